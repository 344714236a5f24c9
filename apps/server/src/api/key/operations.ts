/** Operations with separate rates. `list` covers chains, tokens and swaps. */
export const operations = ["quote", "build", "submit", "delegation", "status", "list"] as const;
export type Operation = (typeof operations)[number];
