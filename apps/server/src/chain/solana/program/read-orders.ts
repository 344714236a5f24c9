import {
	clockAddress,
	decodeClock,
	decodeOrderAccount,
	decodePrepare,
	decodeRecordAccount,
	instructionNumbers,
	type Order,
	type OrderAccount,
	orderAddress,
	orderId,
	programAccountSizes,
	type RecordAccount,
	recordAddress,
	type Wei,
} from "@geoswap/protocol";
import { type Base58EncodedBytes, getBase64Encoder, type Signature } from "@solana/kit";
import type { Hex } from "viem";
import { requestChain } from "../../request-chain.ts";
import type { SolanaChain } from "../connect-solana.ts";
import { type ReadAt, readWholeAccounts } from "../read/read-accounts.ts";
import {
	fromSignature,
	type Landed,
	type ListedSignature,
	listSignatures,
	readLanded,
} from "../read/read-landed.ts";

const ordersPerRequest = 100;

/** An order's account with all lamports that it holds. */
export type HeldOrder = OrderAccount & { lamports: Wei };

/** Reads the accounts of orders that began in the program; undefined for one that was not prepared or is closed. */
export async function readOrders(
	chain: SolanaChain,
	{ orderIds, ...at }: ReadAt & { orderIds: readonly Hex[] },
): Promise<(HeldOrder | undefined)[]> {
	const { program } = chain.deployment;
	const orders: (HeldOrder | undefined)[] = [];
	for (let i = 0; i < orderIds.length; i += ordersPerRequest) {
		const some = orderIds.slice(i, i + ordersPerRequest);
		const addresses = await Promise.all(some.map((orderId) => orderAddress(program.address, orderId)));
		for (const account of await readWholeAccounts(chain, addresses, at)) {
			const order = account?.program === program.address ? decodeOrderAccount(account.data) : undefined;
			orders.push(account && order && { ...order, lamports: account.lamports });
		}
	}
	return orders;
}

/** The place of the vault in an order's account. */
const vaultOffset = 144n;

/**
 * Returns all accounts of orders that began in the program and name our vault, at a final slot not before `minSlot`.
 * Anyone can create such accounts, at their own rent.
 */
export async function findVaultOrders(
	{ chainId, rpc, deployment: { program } }: SolanaChain,
	{ minSlot }: { minSlot: number },
): Promise<OrderAccount[]> {
	const vault = program.vault as string as Base58EncodedBytes;
	const found = await requestChain(
		chainId,
		rpc
			.getProgramAccounts(program.address, {
				commitment: "finalized",
				encoding: "base64",
				minContextSlot: BigInt(minSlot),
				filters: [
					{ dataSize: BigInt(programAccountSizes.order) },
					{ memcmp: { offset: vaultOffset, bytes: vault, encoding: "base58" } },
				],
			})
			.send(),
	);
	return found.flatMap(({ account: { owner, data } }) => {
		const order = decodeOrderAccount(new Uint8Array(getBase64Encoder().encode(data[0])));
		// A node may return more than was requested.
		return owner === program.address && order?.vault === program.vault ? [order] : [];
	});
}

const pageSize = 1_000;
const maxPages = 20;
/**
 * The maximum number of transactions that are read. Each costs a stranger the fee of a transaction while the order can
 * be opened.
 */
const maxReads = 1_000;
/** How far the time of a block may differ from the time by which the program judges deadlines. */
const maxClockLagSeconds = 60n;

/**
 * Returns the terms of an order, which its account does not have, from the final transaction that prepared it.
 * Undefined if the node does not list that transaction, or if strangers hide it among too many of theirs.
 */
export async function readPreparedOrder(
	chain: SolanaChain,
	{ orderId: id, openDeadline }: Pick<OrderAccount, "orderId" | "openDeadline">,
): Promise<Order | undefined> {
	const { program } = chain.deployment;
	const address = await orderAddress(program.address, id);
	let failure: unknown;
	for (const signature of await listInTime()) {
		// A stranger's transaction that cannot be read must not hide the one that is searched.
		const landed = await readLanded(chain, fromSignature(signature), "finalized").catch((err: unknown) => {
			failure = err;
			return undefined;
		});
		const order = landed && preparedIn(landed);
		if (order) return order;
	}
	if (failure) throw failure;
	return undefined;

	/** Lists the transactions that can have prepared and opened the order. */
	async function listInTime(): Promise<Signature[]> {
		const listed: Signature[] = [];
		let before: Signature | undefined;
		for (let pages = 0; pages < maxPages && listed.length < maxReads; pages++) {
			const page = await listSignatures(chain, { address, commitment: "finalized", before, limit: pageSize });
			if (page.length === 0) break;
			listed.push(...page.filter(isInTime).map(({ signature }) => signature));
			before = page.at(-1)?.signature;
		}
		return listed.slice(0, maxReads);
	}

	function isInTime({ isFailed, timestamp }: ListedSignature): boolean {
		const isLate = timestamp !== undefined && BigInt(timestamp) > openDeadline + maxClockLagSeconds;
		return !isFailed && !isLate;
	}

	/** Returns the order if it is prepared by an instruction of this transaction. */
	function preparedIn({ message }: Landed): Order | undefined {
		for (const { program: called, accounts, data } of message.instructions) {
			if (called !== program.address || data[0] !== instructionNumbers.prepare || accounts[1] !== address)
				continue;
			const order = decodePrepare({ addresses: accounts, data }, program.address);
			if (orderId(order) === id) return order;
		}
		return undefined;
	}
}

/** One request reads the clock and this many records, all of one slot. */
const recordsPerRequest = 99;

/** The record of an order from another chain, and the chain's time at which it was read. */
export type RecordReading = { record: RecordAccount | undefined; unixSeconds: bigint };

/** Reads what the program has recorded about orders from other chains. */
export async function readRecords(
	chain: SolanaChain,
	{ orderIds, ...at }: ReadAt & { orderIds: readonly Hex[] },
): Promise<RecordReading[]> {
	const { program } = chain.deployment;
	const readings: RecordReading[] = [];
	for (let i = 0; i < orderIds.length; i += recordsPerRequest) {
		const some = orderIds.slice(i, i + recordsPerRequest);
		const addresses = await Promise.all(some.map((orderId) => recordAddress(program.address, orderId)));
		const [time, ...accounts] = await readWholeAccounts(chain, [clockAddress, ...addresses], at);
		if (!time) throw new Error("the chain has no clock");
		const unixSeconds = decodeClock(time.data);
		for (const account of accounts) {
			// An account that only holds lamports from a third party is no record.
			const data = account?.program === program.address ? account.data : undefined;
			const record = data && decodeRecordAccount(data);
			if (data && !record)
				throw new Error("a record of the program has a form that this version cannot decode");
			readings.push({ record, unixSeconds });
		}
	}
	return readings;
}
