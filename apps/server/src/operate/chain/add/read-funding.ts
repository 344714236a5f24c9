import type { Wei } from "@geoswap/protocol";
import { type Address, type Client, erc20Abi, formatUnits } from "viem";
import { readContract } from "viem/actions";
import type { EvmChain } from "../../../chain/evm/connect-chain.ts";
import { feeModelOf } from "../../../chain/evm/fee/fee-model.ts";
import { readFeeRates } from "../../../chain/evm/fee/read-tip.ts";
import { evmTransactions } from "../../../desk/network-cost.ts";

/** An amount that an operator must send before the chain can be used. */
export type Funding = {
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
export async function readFunding(
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
export async function readStableFunding(
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
