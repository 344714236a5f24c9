import { type SolanaAddress, toSolanaWord } from "@geoswap/protocol";
import { bytesToHex, isAddress } from "viem";
import { balanceOf } from "./check-wallets.ts";
import type { ChainName } from "./plan.ts";
import { usdE18Of } from "./sim-prices.ts";
import type { SimSwap } from "./sim-swap.ts";
import type { World } from "./world.ts";

/**
 * Losses in US cents, by the chain whose deposits are missing; `unknown` if no order of the world explains the loss.
 */
type Losses = Map<ChainName | "unknown", bigint>;

/** Checks that only chains that reorg cost the service something, and never more than their cap on unfinal value. */
export function checkLosses(
	{ config, chains }: World,
	losses: Losses,
	faults: Readonly<Record<string, number>>,
): string[] {
	return [...losses].flatMap(([name, usdCents]) => {
		const chainId = name === "unknown" ? undefined : chains[name].chainId;
		const capUsd = config.chains.find((chain) => chain.chainId === chainId)?.unfinalCapUsd ?? 0;
		const most = faults.reorg ? BigInt(capUsd) * 100n : 0n;
		return usdCents > most ? [`${usdCents} cents were lost by ${name}, but at most ${most} are allowed`] : [];
	});
}

/** Returns the service's losses by the books, which are outputs without an input. */
export async function readLosses({ database, config, wallets }: World): Promise<Losses> {
	const { rows } = await database.pool.query<{
		order_id: Buffer | null;
		chain_id: number;
		token: Buffer;
		amount: bigint;
	}>(
		`select p.order_id, e.chain_id, e.token, sum(e.amount)::numeric as amount
		from entries e join postings p on p.id = e.posting_id where e.account = 'loss' group by 1, 2, 3 order by 1, 2, 3`,
	);
	const losses: Losses = new Map();
	for (const { order_id, chain_id, token, amount } of rows) {
		const orderId = order_id && bytesToHex(order_id);
		const from = wallets.swaps.find((swap) => swap.orderId === orderId)?.plan.from ?? "unknown";
		addLoss(losses, from, usdCentsOf({ config }, { chainId: chain_id, token: bytesToHex(token), amount }));
	}
	return losses;
}

/** Adds to the losses by a chain, if the amount is not zero. */
export function addLoss(losses: Losses, chain: ChainName | "unknown", usdCents: bigint): void {
	if (usdCents !== 0n) losses.set(chain, (losses.get(chain) ?? 0n) + usdCents);
}

/** Returns the value of what the swap's recipient has. */
export function outputUsdCents(world: World, { plan, outputToken, recipient }: SimSwap): bigint {
	const { chainId } = plan.to === "solana" ? world.solana : world.evm[plan.to];
	return usdCentsOf(world, {
		chainId,
		token: wordOf(outputToken),
		amount: balanceOf(world, plan.to, outputToken, recipient),
	});
}

/** Returns an amount's value at the world's usual prices. */
function usdCentsOf(
	{ config }: Pick<World, "config">,
	{ chainId, token, amount }: { chainId: number; token: string; amount: bigint },
): bigint {
	const { assets } = config.chains.find((chain) => chain.chainId === chainId)?.deployment ?? { assets: [] };
	const asset = [...assets].find(({ address }) => wordOf(address) === token);
	if (!asset) throw new Error(`the token that was lost on chain ${chainId} is not an asset`);
	return (amount * usdE18Of(asset.symbol, asset, 0)) / 10n ** BigInt(asset.decimals) / 10n ** 16n;
}

const wordOf = (address: string) =>
	isAddress(address) ? address.toLowerCase() : toSolanaWord(address as SolanaAddress);
