import * as z from "zod";

/** Requires `//`, which a URL can do without: masking recognises by it what must not be shown. */
export const urlSchema = z
	.url()
	.regex(/^[a-z][a-z0-9+.-]*:\/\//i, "a URL must have // after its scheme, as in https://rpc.example");
