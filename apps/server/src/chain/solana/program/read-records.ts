import {
	clockAddress,
	decodeClock,
	decodeRecordAccount,
	type RecordAccount,
	recordAddress,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../connect-solana.ts";
import { type ReadAt, readWholeAccounts } from "../read/read-whole-accounts.ts";

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
				throw new Error("a record of the program has another form than this version knows");
			readings.push({ record, unixSeconds });
		}
	}
	return readings;
}
