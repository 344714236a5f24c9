import { solanaNativeToken } from "@geoswap/protocol";
import type { Hex } from "viem";
import { readOrders, readRecords } from "../../chain/solana/program/read-orders.ts";
import {
	instructionsPerSweep,
	type SweptAccount,
	signSweep,
} from "../../chain/solana/program/sign-ending.ts";
import { readBlockhash } from "../../chain/solana/read/read-slots.ts";
import { simulateTransaction } from "../../chain/solana/send/simulate-transaction.ts";
import { journalLease } from "../../job/journal/journal-lease.ts";
import type { LaneTransaction } from "../../job/journal/lane-transactions.ts";
import { postponeRents, type Rent, readDueRents } from "../../job/journal/rents.ts";
import type { LaneView } from "../load-lane-state.ts";
import type { SolanaLane } from "./solana-lane.ts";
import { stripSignatures } from "./strip-signatures.ts";

/** The number of accounts that are read to find those that can be closed, since some are gone, or not paid yet. */
const accountsRead = 100;

/**
 * Signs a transaction that closes accounts of the program, which returns their rent, if there are any. No swap depends
 * on it, so a lane has at most one such transaction in flight. Returns the transactions to broadcast.
 */
export async function sweepRents(
	lane: SolanaLane,
	{ open, nextNonce }: Pick<LaneView, "open"> & { nextNonce: number },
): Promise<LaneTransaction[]> {
	const { id, pool } = lane;
	if (open.some(({ kind }) => kind === "close")) return [];
	const due = await readDueRents(pool, { chainId: id.chainId, limit: accountsRead });
	if (due.length === 0) return [];
	const closable = fitting(await findClosable(lane, due));
	if (closable.length === 0) return [];
	const signed = await sign(lane, closable);
	if (!signed) {
		await postponeFailing(lane, closable);
		return [];
	}
	const transaction: LaneTransaction = {
		nonce: nextNonce,
		attempt: 0,
		hash: signed.signature,
		raw: signed.raw,
		kind: "close",
		jobs: [],
		accounts: closable.map(({ address }) => address),
		maxFeePerGas: 0n,
		lastValidHeight: signed.lastValidHeight,
		state: "signed",
	};
	// Without jobs it needs no lease. If another run of this lane has signed anything since, the nonce is not the next.
	const content = { lease: 0, nonce: nextNonce, outcomes: [], transactions: [transaction] };
	const journalled = await journalLease(pool, id, content);
	const place = journalled.outcome === "journalled" ? journalled.nonces.get(transaction.hash) : undefined;
	return place === undefined ? [] : [{ ...transaction, nonce: place }];
}

/** A rent whose account can be closed now. */
type Closable = Rent & SweptAccount;

/** Returns the first of these accounts, as many as fit into one transaction. */
function fitting(closable: readonly Closable[]): Closable[] {
	let free = instructionsPerSweep;
	return closable.filter(({ owner }) => {
		free -= owner ? 2 : 1;
		return free >= 0;
	});
}

/** Returns the accounts that exist and can be closed. One that is missing would make the transaction fail. */
async function findClosable({ chain }: SolanaLane, due: readonly Rent[]): Promise<Closable[]> {
	const ofOrders = due.filter(({ account }) => account === "order");
	const ofRecords = due.filter(({ account }) => account === "record");
	const idsOf = (some: readonly Rent[]) => some.map(({ orderId }) => orderId);
	const [orders, records] = await Promise.all([
		readOrders(chain, { orderIds: idsOf(ofOrders), commitment: "finalized" }),
		readRecords(chain, { orderIds: idsOf(ofRecords), commitment: "finalized" }),
	]);
	return [
		...ofOrders.flatMap((rent, i): Closable[] => {
			const order = orders[i];
			if (!order?.isPaid) return [];
			const { state, token, lamports, rent: kept, payer, vault, wallet } = order;
			// Anyone can send SOL to the account after the payment.
			const isPaidAgain = token === solanaNativeToken && lamports > kept;
			return [{ ...rent, payer, ...(isPaidAgain && { owner: state === "released" ? vault : wallet }) }];
		}),
		...ofRecords.filter((_, i) => records[i]?.record),
	];
}

/**
 * Postpones the accounts that cannot be closed, so that they do not hold up the others. For example, anyone can send a
 * few lamports to the account of a paid order, and an owner without any SOL cannot be paid less than the rent minimum.
 */
async function postponeFailing(lane: SolanaLane, closable: readonly Closable[]): Promise<void> {
	const { id, pool, log } = lane;
	const signed = await Promise.all(closable.map((one) => sign(lane, [one])));
	const addresses = closable.filter((_, i) => !signed[i]).map(({ address }) => address);
	if (addresses.length === 0) return;
	log.error({ ...id, addresses }, "accounts cannot be closed; they are tried again in a day");
	await postponeRents(pool, { chainId: id.chainId, addresses });
}

/** Signs a transaction that closes accounts, if it would succeed. */
async function sign(
	{ id, chain, feePayer, policy, log }: SolanaLane,
	closable: readonly Closable[],
): Promise<{ signature: Hex; raw: Hex; lastValidHeight: number } | undefined> {
	const { deployment } = chain;
	const { blockhash, lastValidBlockHeight } = await readBlockhash(chain);
	const signed = await signSweep({
		feePayer,
		blockhash,
		computePrice: BigInt(policy.computePriceMicroLamports),
		deployment,
		accounts: closable,
	});
	const simulation = await simulateTransaction(chain, stripSignatures(signed.raw));
	if (simulation.ok) return { ...signed, lastValidHeight: Number(lastValidBlockHeight) };
	const { reason, logs } = simulation;
	log.warn({ ...id, reason, logs, accounts: closable.length }, "a transaction cannot close accounts");
	return undefined;
}
