import { homeOf } from "../config.ts";
import { type Call, openContext } from "../context.ts";
import { findSwap, refusalAbout } from "../find-swap.ts";
import { openIntents } from "../intents.ts";

/** Prints the signed receipt of an ended swap as JSON, for a file. */
export async function receiptCommand(call: Call, { id }: { id: string }): Promise<void> {
	const { client, output } = await openContext(call);
	const { getReceipt } = await import("@geoswap/sdk/receipt");
	const found = await findSwap(openIntents(homeOf(call.io)), id);
	const receipt = await getReceipt(client, found.swapId, { signal: call.signal }).catch((error: unknown) => {
		throw refusalAbout(found, error);
	});
	await output.result(receipt, [JSON.stringify(receipt)]);
}
