import { SwapError } from "@geoswap/protocol";

/** Returns the id of a webhook in the form of the API. */
export function toWebhookId(uuid: string): string {
	return `wh_${uuid.replaceAll("-", "")}`;
}

/** Returns the UUID in a `wh_…`. Throws NOT_FOUND if the text is anything else. */
export function fromWebhookId(text: string): string {
	const parts = /^wh_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(text);
	if (!parts) throw noWebhook();
	return parts.slice(1).join("-");
}

export function noWebhook(): SwapError {
	return new SwapError("NOT_FOUND", undefined, {
		message: "The account has no such webhook. GET /webhooks lists them.",
	});
}
