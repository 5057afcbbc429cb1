// An open lock marks operations without a credential, a closed lock those that need one. By default, the page shows the locks the
// other way around until a credential is entered.
const locks = () => ({
  statePlugins: {
    auth: {
      wrapSelectors: {
        isAuthorized: () => (_state, alternatives) => !alternatives.some((needed) => needed.isEmpty()),
      },
    },
  },
});

// Large bodies are shown as sent: formatted, a map of a megabyte has more than 200,000 lines, and browsers take seconds to lay
// them out.
const LONGEST_INDENTED = 200_000; // characters

const asSent = (text) => {
  if (typeof text !== "string" || text.length <= LONGEST_INDENTED) return text;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text; // It is not JSON, so it was not indented.
  }
};

const bodies = ({ React }) => ({
  wrapComponents: {
    HighlightCode: (Original) => (props) => React.createElement(Original, { ...props, children: asSent(props.children) }),
  },
});

// Names of operations are links within buttons, which assistive technology cannot announce. The address still follows what is open.
const plainNames = ({ React }) => ({ wrapComponents: { DeepLink: () => ({ text }) => React.createElement("span", null, text) } });

// The names of groups are headings of the third level, so they need one of the second.
const heading = ({ React }) => ({
  wrapComponents: {
    operations: (Original) => (props) =>
      React.createElement(React.Fragment, null, React.createElement("h2", { className: "visually-hidden" }, "Operations"), React.createElement(Original, props)),
  },
});

// This class selects the dark mode of the style sheet.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

// Screen readers need a label for each choice.
const name = () => {
  for (const choice of document.querySelectorAll("select:not([aria-label])")) {
    const parameter = choice.closest("tr")?.querySelector(".parameter__name")?.firstChild?.textContent;
    choice.setAttribute("aria-label", parameter ?? "Media type or server");
  }
};
new MutationObserver(name).observe(document.getElementById("interface"), { childList: true, subtree: true });

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#interface",
  deepLinking: true,
  validatorUrl: "none",
  // Highlighting a map of a megabyte blocks the page for minutes.
  syntaxHighlight: false,
  plugins: [locks, bodies, plainNames, heading],
});
