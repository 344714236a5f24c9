import * as z from "zod";

/** With `//`, which a URL can do without: what must be masked before it is shown is known by it. */
export const urlSchema = z
	.url()
	.regex(/^[a-z][a-z0-9+.-]*:\/\//i, "an address has // after its scheme, as in https://rpc.example");
