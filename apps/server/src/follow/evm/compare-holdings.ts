import { lesser, nativeTokenOf, ourContracts } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { readBalances } from "../../chain/evm/read/read-balances.ts";
import { readBlock } from "../../chain/evm/read/read-block.ts";
import { type DatabasePool, inTransaction } from "../../database/database.ts";
import { bookUnattributed, type Holdings, hasSurplus } from "../../money/ledger/book-unattributed.ts";
import type { Posting } from "../../money/ledger/post.ts";
import { addRelayers, readRelayers } from "../../money/ledger/relayers.ts";
import { bookArrivals, hasArrivals, readArrivedTokens } from "../../money/move/book-arrivals.ts";
import { isWithdrawalDeclared, matchWithdrawals } from "../../money/move/match-withdrawals.ts";
import { closeDay, isDayDue } from "../../money/profit/close-day.ts";
import { lockHead, readHead } from "../../swap/due/chain-head.ts";
import { readUnreadBlocks } from "../../swap/due/unread-blocks.ts";

/**
 * Compares what the vaults and relayers hold at the block up to which the chain is booked with the ledger, and books what
 * came in by moves of the treasury, and then what came in by none of our transactions. The first comparison after
 * midnight closes the day. Does nothing while a block is unread, because its events may explain a difference.
 */
export async function compareHoldings({
	chain,
	pool,
	relayers,
	agreeing = [],
}: {
	chain: EvmChain;
	pool: DatabasePool;
	/** The relayers that are configured now. */
	relayers: readonly Hex[];
	/**
	 * The chain at each of several providers. They are read when a day is closed, and before a surplus is booked: the
	 * least that one of them reports counts.
	 */
	agreeing?: readonly EvmChain[] | undefined;
}): Promise<Posting[]> {
	const { chainId, deployment } = chain;
	const head = await readHead(pool, chainId);
	if (!head || head.number < head.bookedNumber) return [];
	const blockNumber = head.bookedNumber;
	const at = { relayers: await knownRelayers(pool, { chainId, relayers }), blockNumber };
	const [held, { timestamp }] = await Promise.all([readHeld(chain, at), readBlock(chain, blockNumber)]);
	const isDue = await isDayDue(pool, { chainId, timestamp });
	const isMore = await hasSurplus(pool, { chainId, held });
	const upToBlock = { chainId, upTo: blockNumber };
	// A shortage is booked only if it was declared.
	const isQuiet = !isDue && !isMore && !(await isWithdrawalDeclared(pool, chainId));
	if (isQuiet && !(await hasArrivals(pool, upToBlock))) return [];
	const others = isDue || isMore ? await Promise.all(agreeing.map((other) => readHeld(other, at))) : [];
	return inTransaction(pool, async (db) => {
		const now = await lockHead(db, chainId);
		const [unread] = await readUnreadBlocks(db, { chainId, limit: 1 });
		// Anyone can cause a partly read block, of which only events of strangers' orders are missing.
		if (now?.bookedNumber !== blockNumber || (unread && !unread.isPartial)) return [];
		await matchWithdrawals(db, chainId);
		const holdings = { blockNumber, held };
		const arrivals = await bookArrivals(db, upToBlock);
		// A move explains a surplus of these once both of its blocks are final.
		const arrived = await readArrivedTokens(db, upToBlock);
		// A surplus that one provider makes up would be missing ever after.
		const least = leastOf([held, ...others]).filter(
			({ account, token }) => account !== "inventory" || !arrived.has(keyOf(token)),
		);
		const booked = await bookUnattributed(db, {
			chainId,
			holdings: { blockNumber, held: least },
			occasion: String(blockNumber),
		});
		if (isDue && arrived.size === 0) {
			const decimalsOf = (token: Hex) =>
				deployment.assets.find(({ address }) => keyOf(address) === token)?.decimals;
			await closeDay(db, { chainId, timestamp, holdings, agreeing: others, decimalsOf });
		}
		return [...arrivals, ...booked];
	});
}

function keyOf(token: Hex): Hex {
	return token.toLowerCase() as Hex;
}

/** Returns all current and former relayers of a chain, after adding those that are new. */
async function knownRelayers(
	pool: DatabasePool,
	{ chainId, relayers }: { chainId: number; relayers: readonly Hex[] },
): Promise<Hex[]> {
	const known = await readRelayers(pool, chainId);
	if (relayers.every((relayer) => known.includes(relayer.toLowerCase() as Hex))) return known;
	await addRelayers(pool, { chainId, relayers });
	return readRelayers(pool, chainId);
}

/** Returns, for each balance, the least that was read of it. */
function leastOf([first = [], ...others]: readonly Holdings["held"][]): Holdings["held"] {
	return first.map((one, i) => ({
		...one,
		amount: others.reduce((least, held) => lesser(least, held[i]?.amount ?? 0n), one.amount),
	}));
}

/** Reads the vaults' balance of each asset, and the relayers' balance of the native token, at one block. */
export async function readHeld(
	chain: EvmChain,
	{ relayers, blockNumber }: { relayers: readonly Hex[]; blockNumber: number },
): Promise<Holdings["held"]> {
	const { chainId, deployment } = chain;
	const tokens = deployment.assets.map(({ address }) => address);
	const native = nativeTokenOf(chainId);
	const [inVaults, [gas = 0n]] = await Promise.all([
		readBalances(chain, { tokens, holders: ourContracts(deployment).vaults, blockNumber }),
		readBalances(chain, { tokens: [native], holders: relayers, blockNumber }),
	]);
	return [
		...tokens.map((token, i) => ({ account: "inventory" as const, token, amount: inVaults[i] ?? 0n })),
		{ account: "relayer", token: native, amount: gas },
	];
}
