import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { readHoldings } from "../../chain/solana/read/read-holdings.ts";
import { readSlots } from "../../chain/solana/read/read-slots.ts";
import { type DatabasePool, inTransaction } from "../../database/database.ts";
import { addToLedgerBalances } from "../../money/ledger/book-unattributed.ts";
import { postOpening } from "../../money/ledger/post-opening.ts";
import { insertHead, slotHash } from "../../swap/due/chain-head.ts";
import { lamportsPerSignature } from "./apply-slots.ts";

/** Creates the chain's cursor if there is none. The books begin with what the vault holds at a final slot. */
export async function startFollowingSolana({
	chain,
	pool,
}: {
	chain: SolanaChain;
	pool: DatabasePool;
}): Promise<boolean> {
	const { chainId } = chain;
	const holdings = await readHoldings(chain, { commitment: "finalized" });
	const { finalized } = await readSlots(chain);
	if (holdings.slot > finalized.slot) return false;
	const { slot, timestamp, height } = finalized;
	await inTransaction(pool, async (db) => {
		await insertHead(db, {
			chainId,
			block: { number: slot, hash: slotHash(slot), timestamp, baseFee: lamportsPerSignature },
			bookedNumber: holdings.slot,
			finalizedHeight: height,
		});
		const opening = await postOpening(db, {
			chainId,
			blockNumber: holdings.slot,
			balances: [...holdings.vault].map(([token, amount]) => ({ account: "inventory", token, amount })),
		});
		await addToLedgerBalances(
			db,
			chainId,
			opening.flatMap((posting) => posting.entries),
		);
	});
	return true;
}
