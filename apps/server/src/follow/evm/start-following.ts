import { ourContracts } from "@geoswap/protocol";
import type { Address } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { readBalances } from "../../chain/evm/read/read-balances.ts";
import { readBlock } from "../../chain/evm/read/read-block.ts";
import { type DatabasePool, inTransaction } from "../../database/database.ts";
import { postOpening } from "../../money/ledger/post.ts";
import { addRelayers, readRelayers } from "../../money/ledger/relayers.ts";
import { insertBlock, insertHead } from "../../swap/due/chain-head.ts";
import { readHeld } from "./compare-holdings.ts";

/** A deployment younger than this is followed from its first block; an older one from the current final block. */
const maxBlocksBack = 5_000;

/**
 * Creates the chain's cursor if there is none. The books begin at the current final block, with the balances of the
 * contracts at that block, because a node may have no older state. Returns false while the deployment itself is not
 * final.
 */
export async function startFollowing({
	chain,
	pool,
	relayers,
}: {
	chain: EvmChain;
	pool: DatabasePool;
	relayers: readonly Address[];
}): Promise<boolean> {
	const { chainId, deployment } = chain;
	const finalized = await readBlock(chain, "finalized");
	const firstNumber = Math.max(deployment.deployedAtBlock - 1, 0);
	if (finalized.number < deployment.deployedAtBlock) return false;
	const isYoung = finalized.number - firstNumber < maxBlocksBack;
	const block = isYoung ? await readBlock(chain, firstNumber) : finalized;

	const { escrows } = ourContracts(deployment);
	await addRelayers(pool, { chainId, relayers });
	const at = { tokens: deployment.assets.map((asset) => asset.address), blockNumber: finalized.number };
	const [inEscrows, held] = await Promise.all([
		readBalances(chain, { ...at, holders: escrows }),
		readHeld(chain, { relayers: await readRelayers(pool, chainId), blockNumber: finalized.number }),
	]);
	await inTransaction(pool, async (db) => {
		await insertHead(db, { chainId, block, bookedNumber: finalized.number });
		await insertBlock(db, { chainId, block });
		await postOpening(db, {
			chainId,
			blockNumber: finalized.number,
			balances: [
				...at.tokens.map((token, i) => ({ account: "escrow" as const, token, amount: inEscrows[i] ?? 0n })),
				...held,
			],
		});
	});
	return true;
}
