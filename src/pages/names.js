// The names of areas, as all pages write them.

/**
 * Returns an all-caps name in title case, which is easier to read: "Jakarta Barat". Short names are abbreviations and stay: RW, TMII.
 *
 * @param {string} name
 */
export const nice = (name) =>
  name === name.toUpperCase() && /\p{Lu}{5}|\p{Lu}{4} |\p{Lu}{3} \p{Lu}{3}/u.test(name)
    ? name.toLowerCase().replace(/(^|[\s(/.-])(\p{L})/gu, (_, before, letter) => before + letter.toUpperCase())
    : name;
