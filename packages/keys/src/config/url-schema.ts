import * as z from "zod";

/** Requires `//`, which a URL can lack, because masking recognises URLs by it. */
export const urlSchema = z
	.url()
	.regex(/^[a-z][a-z0-9+.-]*:\/\//i, "a URL must have // after its scheme, as in https://rpc.example");
