import { existsSync } from "node:fs";
import { parseJsonFile } from "@geoswap/keys/config/parse-json-file";
import { type Address, createPublicClient, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { connectChain } from "../../../chain/evm/connect-chain.ts";
import { firstUrl } from "../../../config/chain-config.ts";
import { type Adding, endsOf, hasCanaryReturned, type Outcome, readConfigured } from "./adding.ts";
import { ownersSchema } from "./owners.ts";
import { readFunding, readStableFunding } from "./read-funding.ts";

/** USD that the canary's wallet should hold: several times the smallest swap. */
const canaryUsd = 10;

/** Lists what relayers, vault and the canary's wallet need. Waits until they have it. */
export async function checkFunding(adding: Adding): Promise<Outcome> {
	const { options, chainFile } = adding;
	const { isDryRun } = options;
	const found = readConfigured(adding);
	if (!found) return { state: "would do", lines: ["list what relayers, vault and canary need"] };
	const { operators } = parseJsonFile(ownersSchema, options.ownersPath);
	const listed = await readFunding(connectChain({ ...found.chain, rpcUrl: firstUrl(found.chain) }), {
		relayers: operators as Address[],
		inventoryUsd: options.inventoryUsd,
		tip: BigInt(found.chain.minimumTipWei),
	});
	// The money of a canary in progress is not in its wallet.
	const isToStart = !hasCanaryReturned(adding) && !existsSync(chainFile(".canary"));
	if (options.walletKey && isToStart) {
		const { start } = endsOf(adding, found);
		const starting = [found.chain, ...found.others].find((one) => one.chainId === start.chainId);
		const there = createPublicClient({ transport: http(firstUrl(starting ?? found.chain)) });
		const holder = privateKeyToAccount(options.walletKey).address;
		const what = `wallet of the canary, on chain ${start.chainId}`;
		const token = { address: start.token, symbol: start.symbol, decimals: start.decimals };
		listed.push(await readStableFunding(there, { what, holder, usd: canaryUsd, token }));
	}
	const lines = listed.map(
		({ what, address, symbol, needed, has, isEnough }) =>
			`${isEnough ? "ok" : "SEND"} ${what}: ${address} needs ${needed} ${symbol}, has ${has}`,
	);
	if (listed.every(({ isEnough }) => isEnough)) return { state: "done", lines };
	return isDryRun
		? { state: "would do", lines }
		: { state: "waiting", lines: [...lines, "send what is missing, then run again"] };
}
