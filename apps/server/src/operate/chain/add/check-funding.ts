import { existsSync } from "node:fs";
import { parseJsonFile } from "@geoswap/keys/config/parse-json-file";
import type { Wei } from "@geoswap/protocol";
import { type Address, type Client, createPublicClient, erc20Abi, formatUnits, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { readContract } from "viem/actions";
import { connectChain, type EvmChain } from "../../../chain/evm/connect-chain.ts";
import { feeModelOf } from "../../../chain/evm/fee/fee-model.ts";
import { readFeeRates } from "../../../chain/evm/fee/read-tip.ts";
import { firstUrl } from "../../../config/chain-config.ts";
import { evmTransactions } from "../../../desk/network-cost.ts";
import { type Adding, endsOf, hasCanaryReturned, type Outcome, readConfigured } from "./adding.ts";
import { ownersSchema } from "./owners.ts";

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

/** An amount that an operator must send before the chain can be used. */
type Funding = {
	what: string;
	address: Address;
	symbol: string;
	needed: string;
	has: string;
	isEnough: boolean;
};

/** Gas limit of an ordinary transaction of a relayer, and how many of them it should be able to pay for. */
const gasOfOne = 300_000n;
const transactions = 200n;

/** Returns what the relayers and the vault need, and what they have. */
async function readFunding(
	chain: EvmChain,
	{ relayers, inventoryUsd, tip }: { relayers: readonly Address[]; inventoryUsd: number; tip: Wei },
): Promise<Funding[]> {
	const { client, deployment } = chain;
	const { assets, settlementToken, contracts } = deployment;
	const settlement = assets.find(({ address }) => address === settlementToken);
	if (!settlement) throw new Error("the deployment has no settlement token");
	const native = assets.find(({ address }) => BigInt(address) === 0n)?.symbol ?? "native";
	const { cost } = feeModelOf(deployment);
	const gasNeeded =
		transactions * cost(await readFeeRates(chain, { tip }), { ...evmTransactions.open, gas: gasOfOne });
	const funding: Funding[] = [];
	for (const address of relayers) {
		const balance = await client.getBalance({ address });
		funding.push(entry("gas of a relayer", { address, symbol: native, decimals: 18 }, gasNeeded, balance));
	}
	const inventory = { what: "inventory of the vault", holder: contracts.vault, usd: inventoryUsd };
	funding.push(await readStableFunding(client, { ...inventory, token: settlement }));
	return funding;
}

/** Returns what a holder needs of a stable token, and what it has. */
async function readStableFunding(
	client: Client,
	{
		what,
		holder,
		usd,
		token: { address, symbol, decimals },
	}: {
		what: string;
		holder: Address;
		usd: number;
		token: { address: Address; symbol: string; decimals: number };
	},
): Promise<Funding> {
	const balance = await readContract(client, {
		address,
		abi: erc20Abi,
		functionName: "balanceOf",
		args: [holder],
	});
	// Cents, so that the amount is exact.
	const needed = (BigInt(Math.ceil(usd * 100)) * 10n ** BigInt(decimals)) / 100n;
	return entry(what, { address: holder, symbol, decimals }, needed, balance);
}

function entry(
	what: string,
	{ address, symbol, decimals }: { address: Address; symbol: string; decimals: number },
	needed: bigint,
	balance: bigint,
): Funding {
	return {
		what,
		address,
		symbol,
		needed: formatUnits(needed, decimals),
		has: formatUnits(balance, decimals),
		isEnough: balance >= needed,
	};
}
