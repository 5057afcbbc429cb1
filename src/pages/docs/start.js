// An open lock marks operations that need no credential, a closed lock those that do. Without this, the page would show the
// locks the other way around until a credential is entered.
const locks = () => ({
  statePlugins: {
    auth: {
      wrapSelectors: {
        isAuthorized: () => (_state, alternatives) => !alternatives.some((needed) => needed.isEmpty()),
      },
    },
  },
});

// A map of a megabyte, with each number on a line of its own, has more than 200,000 lines, and browsers take seconds to lay
// them out. So large bodies are shown as they were sent.
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

// The style sheet has a dark mode, which this class selects.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

// Readers of the screen need a name for each choice.
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
  plugins: [locks, bodies],
});
