import { type Call, openContext } from "../context.ts";

/** Prints the signed receipt of an ended swap as JSON, for a file. */
export async function receiptCommand(call: Call, { swapId }: { swapId: string }): Promise<void> {
	const { client, output } = await openContext(call);
	const { getReceipt } = await import("@geoswap/sdk/receipt");
	const receipt = await getReceipt(client, swapId, { signal: call.signal });
	await output.result(receipt, [JSON.stringify(receipt)]);
}
