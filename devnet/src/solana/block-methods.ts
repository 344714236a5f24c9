import { RpcError } from "./rpc-error.ts";
import {
	commitmentOf,
	configAt,
	headFor,
	inContext,
	type Methods,
	type Params,
	solanaVersion,
} from "./rpc-params.ts";
import { type SolanaChain, solanaDevnetGenesisHash } from "./solana-chain.ts";

const slotsInEpoch = 432_000;
const feeBlocks = 150;

export function blockMethods(chain: SolanaChain): Methods {
	const headOf = (params: Params, index = 0) => headFor(chain, configAt(params, index));
	const blockAt = (slot: unknown) => chain.blocks.findLast((block) => block.slot === Number(slot));

	return {
		getSlot: (params) => headOf(params).slot,
		getBlockHeight: (params) => headOf(params).height,
		getLatestBlockhash: (params) => {
			const head = headOf(params);
			const lastValidBlockHeight = chain.lastValidBlockHeight(head);
			return inContext(head, { blockhash: head.blockhash, lastValidBlockHeight });
		},
		isBlockhashValid: (params) => {
			const head = headOf(params, 1);
			return inContext(head, chain.isBlockhashKnown(String(params[0]), head.height));
		},
		getEpochInfo: (params) => {
			const { slot, height } = headOf(params);
			return {
				absoluteSlot: slot,
				blockHeight: height,
				epoch: Math.floor(slot / slotsInEpoch),
				slotIndex: slot % slotsInEpoch,
				slotsInEpoch,
				transactionCount: null,
			};
		},
		getBlockTime: ([slot]) => {
			const block = blockAt(slot);
			if (block && block.slot <= chain.head("processed").slot) return block.unixSeconds;
			if (Number(slot) > chain.slot()) throw new RpcError(-32004, `Block not available for slot ${slot}`);
			throw new RpcError(-32009, `Slot ${slot} was skipped, or missing in long-term storage`);
		},
		getBlocks: (params) => {
			const [first, last] = params;
			const config = configAt(params, typeof last === "number" ? 2 : 1);
			const end = Math.min(typeof last === "number" ? last : Infinity, chain.head(commitmentOf(config)).slot);
			return chain.blocks.map(({ slot }) => slot).filter((slot) => slot >= Number(first) && slot <= end);
		},
		getFirstAvailableBlock: () => 0,
		getGenesisHash: () => solanaDevnetGenesisHash,
		getHealth: () => "ok",
		getVersion: () => ({ "solana-core": solanaVersion, "feature-set": 0 }),
		getRecentPrioritizationFees: () =>
			chain.blocks.slice(-feeBlocks).map(({ slot, transactions }) => ({
				slot,
				prioritizationFee: transactions.reduce<bigint>(
					(least, { wire }) =>
						least === 0n || wire.microLamportsPerUnit < least ? wire.microLamportsPerUnit : least,
					0n,
				),
			})),
	};
}
