/**
 * The version of the interface, not of the program: major.minor.patch. docs/api.md describes what may change in each.
 */
export const interfaceVersion = "1.3.0";
