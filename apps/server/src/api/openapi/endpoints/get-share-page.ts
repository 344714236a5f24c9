import type { RouteDoc } from "../route-doc.ts";
import { exampleShare } from "./example-share.ts";

export const shareParams = { share: "The `token` that the creation of the link returned." };

export const getSharePageDoc: RouteDoc = {
	id: "getSharePage",
	summary: "The page of a shared swap",
	description: `An HTML page about one swap, for whoever has the link: how it is doing, where the money is, what was agreed, and what was
proved. It updates itself. A link that was revoked, and one that never existed, are 404.`,
	params: shareParams,
	response: { contentType: "text/html", description: "The page." },
	errors: ["NOT_FOUND", "UPSTREAM_UNAVAILABLE"],
	example: { params: { share: exampleShare }, response: "<!doctype html>" },
};
