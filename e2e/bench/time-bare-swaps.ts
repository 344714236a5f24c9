import { Agent, request } from "node:http";
import { json } from "node:stream/consumers";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { SwapsResult } from "./keep-pace.ts";
import { keepPace, type Run } from "./keep-pace.ts";
import type { BareSwapsLoad, Reach } from "./load.ts";

/** Submits signed messages to the bare twin, and waits for each to be settled. */
export async function timeBareSwaps({ url, count, pace }: BareSwapsLoad, reach: Reach): Promise<SwapsResult> {
	await reach("funded");
	const agent = new Agent({ keepAlive: true });
	const account = privateKeyToAccount(generatePrivateKey());
	const message = "swap";
	const signature = await account.signMessage({ message });
	await reach("prepared");
	return keepPace(
		Array.from(
			{ length: count },
			(): Run => async () => {
				const { id } = await call(`${url}/swaps`, {
					agent,
					body: { message, signature, signer: account.address },
				});
				await call(`${url}/swaps/${id}`, { agent });
				return "settled";
			},
		),
		pace,
	);
}

function call(url: string, { agent, body }: { agent: Agent; body?: object }): Promise<{ id: string }> {
	return new Promise((resolve, reject) => {
		const headers = body ? { "content-type": "application/json" } : {};
		const sending = request(url, { method: body ? "POST" : "GET", agent, headers }, (response) => {
			json(response).then((answer) => {
				if (response.statusCode === 200) resolve(answer as { id: string });
				else reject(new Error(`${url} answered ${response.statusCode}: ${JSON.stringify(answer)}`));
			}, reject);
		});
		sending.on("error", reject);
		sending.end(body && JSON.stringify(body));
	});
}
