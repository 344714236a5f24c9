import { type ChainKind, chainKindSchema, type Wei } from "@geoswap/protocol";
import { type Address, type Hash, hexToBigInt, type PublicClient, type RpcTransactionReceipt } from "viem";
import { feeModelOf } from "../../chain/evm/fee/fee-model.ts";

/** A third party's transaction, with what it cost by its sender's balance and by each model. */
type MeasuredReceipt = {
	hash: Hash;
	paidWei: Wei;
	/** The models whose formula gives what the sender paid. None if the sender also received something. */
	fits: ChainKind[];
};

export type FeeModelMeasurement = {
	/** The model that all receipts fit. Undefined if there is none or there are too few receipts. */
	value: ChainKind | undefined;
	how: string;
	receipts: MeasuredReceipt[];
};

/** The number of receipts to collect. */
const wanted = 3;
/** Blocks to search, from the newest down. Nodes without an archive have the balances of about 128. */
const maxBlocks = 30n;
/** The maximum number of transactions to examine. */
const maxCandidates = 20;

/** Fields that only receipts of this kind of chain have. The formulas of two kinds may agree on a receipt. */
const marks: Record<ChainKind, string | undefined> = {
	eip1559: undefined,
	"op-stack": "l1Fee",
	arbitrum: "gasUsedForL1",
};

/**
 * Finds the fee model by which a chain charges, from three recent transactions of anyone. If a sender has one
 * transaction in a block, its balance falls by the value and the cost, so the balance shows what it paid.
 */
export async function measureFeeModel(client: PublicClient): Promise<FeeModelMeasurement> {
	const newest = await client.getBlockNumber({ cacheTime: 0 });
	const oldest = newest > maxBlocks ? newest - maxBlocks : 0n;
	const receipts: MeasuredReceipt[] = [];
	let candidates = 0;
	for (let number = newest; number > oldest && receipts.length < wanted; number--) {
		for (const hash of await findCandidates(client, number)) {
			if (receipts.length >= wanted || candidates >= maxCandidates) break;
			candidates++;
			const measured = await measureReceipt(client, hash, number);
			// Otherwise the sender also received something, and its balance does not show the cost.
			if (measured.fits.length > 0) receipts.push(measured);
		}
	}
	const kinds = chainKindSchema.options.filter((kind) => receipts.every(({ fits }) => fits.includes(kind)));
	const [value] = kinds;
	if (receipts.length < wanted || !value) {
		const how = `not measured: ${receipts.length} of ${candidates} transactions fit a model, ${wanted} must fit the same one`;
		return { value: undefined, how, receipts };
	}
	return {
		value,
		how: `it gives what the senders of ${wanted} recent transactions paid, to the wei`,
		receipts,
	};
}

/** Types of transactions whose sender pays for gas alone, so not blobs, deposits or a chain's own types. */
const plainTypes = ["legacy", "eip2930", "eip1559", "eip7702"];

/** Returns transactions whose senders sent no other in the block and are not paid by it. Transfers come first. */
async function findCandidates(client: PublicClient, blockNumber: bigint): Promise<Hash[]> {
	const {
		transactions,
		miner,
		withdrawals = [],
	} = await client.getBlock({
		blockNumber,
		includeTransactions: true,
	});
	const counts = new Map<Address, number>();
	const touched = [
		...transactions.flatMap(({ from, to }) => (to ? [from, to] : [from])),
		miner,
		...withdrawals.map(({ address }) => address),
	].map((address) => address.toLowerCase() as Address);
	for (const address of touched) counts.set(address, (counts.get(address) ?? 0) + 1);
	const isAlone = (address: Address) => counts.get(address.toLowerCase() as Address) === 1;
	const plain = transactions.filter(
		({ type, from, gasPrice, maxFeePerGas }) =>
			plainTypes.includes(type) && isAlone(from) && (maxFeePerGas ?? gasPrice ?? 0n) > 0n,
	);
	// Transactions with little data come first. More data means more inner calls, which could pay the sender and so
	// falsify the measurement.
	plain.sort((a, b) => a.input.length - b.input.length);
	return plain.slice(0, wanted).map(({ hash }) => hash);
}

async function measureReceipt(
	client: PublicClient,
	hash: Hash,
	blockNumber: bigint,
): Promise<MeasuredReceipt> {
	const [receipt, { value, from }] = await Promise.all([
		client.request({ method: "eth_getTransactionReceipt", params: [hash] }),
		client.getTransaction({ hash }),
	]);
	if (!receipt) throw new Error(`the node has no receipt of its transaction ${hash}`);
	const [before, after] = await Promise.all([
		client.getBalance({ address: from, blockNumber: blockNumber - 1n }),
		client.getBalance({ address: from, blockNumber }),
	]);
	const isSuccess = hexToBigInt(receipt.status) === 1n;
	const paidWei = before - after - (isSuccess ? value : 0n);
	const fits = chainKindSchema.options.filter(
		(kind) => isMarked(receipt, kind) && feeModelOf({ kind }).paid(receipt) === paidWei,
	);
	return { hash, paidWei, fits };
}

/** Returns whether a receipt has the fields that this kind of chain adds, and none that another kind adds. */
function isMarked(receipt: RpcTransactionReceipt, kind: ChainKind): boolean {
	return Object.values(marks).every(
		(mark) => mark === undefined || mark in receipt === (mark === marks[kind]),
	);
}
