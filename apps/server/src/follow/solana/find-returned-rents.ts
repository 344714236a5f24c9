import { fromSolanaWord } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { readAccounts } from "../../chain/solana/read/read-accounts.ts";
import type { Landed } from "../../chain/solana/read/read-landed.ts";
import { readListed } from "../../chain/solana/read/read-listed.ts";
import type { Database } from "../../database/database.ts";
import { markRentsReturned, readOverdueRents, readRents } from "../../job/journal/rents.ts";
import type { Log } from "../../telemetry/log.ts";
import type { LateTransaction } from "./compare-solana-orders.ts";
import { closedAccounts, closedEvents } from "./landed-events.ts";

/** One request reads this many accounts. */
const rentsAtOnce = 100;

/** The accounts whose transactions are read at a time. */
const searchesAtOnce = 8;

/**
 * Finds the final transactions that closed accounts of orders and records, and that are not known. Anyone may close
 * these accounts, and a restored store has lost our own transactions. After an hour, a transaction that is not among
 * the newest that name the account is given up.
 */
export async function findReturnedRents({
	chain,
	pool,
	log,
}: {
	chain: SolanaChain;
	pool: Database;
	log: Log;
}): Promise<LateTransaction[]> {
	const { chainId, deployment } = chain;
	const overdue = await readOverdueRents(pool, { chainId, limit: rentsAtOnce });
	if (overdue.length === 0) return [];
	const addresses = overdue.map(({ address }) => fromSolanaWord(address));
	const { accounts } = await readAccounts(chain, addresses, { commitment: "finalized" });
	// Anyone can send lamports to the address of a closed account. Then the System program owns it.
	const closed = overdue.filter((_, i) => accounts[i]?.program !== deployment.program.address);
	const found = new Map<string, LateTransaction>();
	for (const { address, isOld } of closed.slice(0, searchesAtOnce)) {
		const landed = await findClosing(address);
		if (landed) found.set(landed.signature, await describe(landed));
		// A node that is behind does not list it yet.
		if (landed || !isOld) continue;
		log.error(
			{ chainId, address },
			"an account is closed, and no node returns the transaction that closed it",
		);
		await markRentsReturned(pool, { chainId, addresses: [address] });
	}
	return [...found.values()];

	async function findClosing(address: Hex): Promise<Landed | undefined> {
		try {
			const listed = await readListed(chain, fromSolanaWord(address));
			return listed.findLast((one) => closedAccounts(one).some((closing) => closing.address === address));
		} catch (err) {
			log.error({ chainId, address, err }, "transactions of a closed account could not be read");
			return undefined;
		}
	}

	async function describe(landed: Landed): Promise<LateTransaction> {
		const { signature: hash, slot, fee, message } = landed;
		const rents = await readRents(pool, {
			chainId,
			addresses: closedAccounts(landed).map(({ address }) => address),
		});
		const events = await closedEvents({ deployment, landed, rents });
		return { hash, slot, fee, events, feePayer: message.feePayer };
	}
}
