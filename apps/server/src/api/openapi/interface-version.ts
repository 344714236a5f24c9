/** Of the interface, not of the program: major.minor.patch. What may change in each is said in docs/api.md. */
export const interfaceVersion = "1.1.0";
