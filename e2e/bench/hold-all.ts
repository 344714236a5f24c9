import { once } from "node:events";
import { request } from "node:http";
import type { HoldLoad } from "./load.ts";

/** Sends `count` GETs, each on its own connection, and returns when all are sent. */
export async function holdAll({ url, headers, count }: HoldLoad): Promise<"holding"> {
	await Promise.all(
		Array.from({ length: count }, async () => {
			const sending = request(url, { agent: false, headers }, (response) => response.resume());
			sending.end();
			await once(sending, "finish");
			sending.on("error", () => {});
		}),
	);
	return "holding";
}
