import {
	accountRentLamports,
	addressOfWord,
	fromSolanaWord,
	inputAddress,
	isSolana,
	type Order,
	orderAddress,
	orderToJson,
	programAccountSizes,
	readProgramEvents,
	recordAddress,
	type SolanaAddress,
	type SolanaDeployment,
	solanaNativeToken,
	tokenAccountOf,
	toSolanaWord,
	unpackDeadlines,
	type Wei,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { type Landed, receivedBy } from "../../chain/solana/read/read-landed.ts";
import type { RentPaid } from "../../job/journal/rents.ts";
import type { SlotEvent } from "./apply-slots.ts";

/** Seconds from an order's `refundAfter` until its record may be closed, by the program's rule. */
const recordSeconds = 86_400n;

/**
 * Returns the effects of a transaction on one order, with the names and data that events of the
 * contracts have on an EVM chain, and its cost in lamports beside the fee. The program's logs show what was decided, and
 * the changed balances what was paid. Empty if it did nothing to the order.
 */
export async function landedEvents({
	deployment: { feePayers, program },
	landed,
	order,
	orderId,
}: {
	deployment: Pick<SolanaDeployment, "feePayers" | "program">;
	landed: Landed;
	order: Order;
	orderId: Hex;
}): Promise<SlotEvent[]> {
	if (landed.isFailed) return [];
	if (!landed.logs) throw new Error("the node returns no logs of transactions");
	const logged = readProgramEvents(landed.logs, program.address).filter((event) => event.orderId === orderId);
	const has = (name: (typeof logged)[number]["name"]) => logged.some((event) => event.name === name);
	const [escrow, vault] = [toSolanaWord(program.address), toSolanaWord(program.vault)];
	const event = (name: string, data: object, contract = escrow): SlotEvent => ({
		name,
		data,
		orderId,
		contract,
	});
	const account = await orderAddress(program.address, orderId);
	const inputAccount = await inputAddress(program.address, orderId);
	const isNative = fromSolanaWord(order.inputToken) === solanaNativeToken;
	const { feePayer } = landed.message;
	/** The lamports that one of our fee payers spent beside the fee. */
	const spent = feePayers.includes(feePayer) ? -addedTo(feePayer) - landed.fee : 0n;
	const { openDeadline, refundAfter } = unpackDeadlines(order.deadlines);
	const events: SlotEvent[] = [];

	if (has("opened")) {
		events.push(event("Opened", { order: orderToJson(order) }));
		const lamports = addedTo(account) + (isNative ? -order.inputAmount : addedTo(inputAccount));
		// The program returns the rent to the account that paid it.
		if (lamports > 0n && spent >= lamports) {
			events.push(
				rentPaid({ address: toSolanaWord(account), account: "order", lamports, closableAt: openDeadline }),
			);
		}
	}
	const filled = logged.find((one) => one.name === "filled");
	if (filled?.name === "filled") {
		const { outputToken, recipient, destinationChainId, topUp } = order;
		const received = await receivedBy(landed, { owner: fromSolanaWord(recipient), token: outputToken });
		const isOfSol = fromSolanaWord(outputToken) === solanaNativeToken;
		const delivered = received - (isOfSol ? filled.topUp : 0n);
		const spentToken = addressOfWord(destinationChainId, outputToken);
		const data = { delivered: String(delivered), spentToken, spent: String(filled.amount) };
		// The program leaves out a top-up after which the recipient could not exist.
		const toppedUp = { amount: String(topUp), paid: filled.topUp > 0n };
		events.push(
			event("Filled", data, vault),
			...(topUp > 0n ? [event("ToppedUp", toppedUp, vault)] : []),
			...(await recordMade()),
			...(await accountMade(recipient, outputToken)),
		);
	}
	if (has("voided")) events.push(event("Voided", {}, vault), ...(await recordMade()));
	if (isSolana(order.originChainId) && inputLeft() >= order.inputAmount) {
		const { wallet, inputToken } = order;
		if (has("released") || (!has("refunded") && (await isReceivedBy(program.vault)))) {
			events.push(event("Released", { paid: true }));
		} else if (await isReceivedBy(fromSolanaWord(wallet))) {
			events.push(event("Refunded", { paid: true }), ...(await accountMade(wallet, inputToken)));
		}
	}
	return events;

	/** Returns how much of the input left the order's account. */
	function inputLeft(): bigint {
		if (isNative) return -addedTo(account);
		const change = landed.tokens.get(inputAccount);
		return change ? change.before - change.after : 0n;
	}

	async function isReceivedBy(owner: SolanaAddress): Promise<boolean> {
		return (await receivedBy(landed, { owner, token: order.inputToken })) >= order.inputAmount;
	}

	function rentPaid({
		lamports,
		closableAt,
		...rent
	}: {
		address: Hex;
		account: "order" | "record";
		lamports: bigint;
		closableAt: bigint;
	}): SlotEvent {
		const data = { ...rent, lamports: String(lamports), closableAt: Number(closableAt) };
		return event("RentPaid", data, rent.account === "record" ? vault : escrow);
	}

	/** Returns an event if the vault paid the rent of the order's record. */
	async function recordMade(): Promise<SlotEvent[]> {
		const record = await recordAddress(program.address, orderId);
		const lamports = addedTo(record);
		if (lamports === 0n) return [];
		const closableAt = refundAfter + recordSeconds;
		return [rentPaid({ address: toSolanaWord(record), account: "record", lamports, closableAt })];
	}

	/** Returns an event if our fee payer made a token account for the receiver, who owns it now. */
	async function accountMade(owner: Hex, token: Hex): Promise<SlotEvent[]> {
		const mint = fromSolanaWord(token);
		if (mint === solanaNativeToken) return [];
		const address = await tokenAccountOf({ owner: fromSolanaWord(owner), token: mint });
		const lamports = addedTo(address);
		if (lamports === 0n || spent < lamports) return [];
		return [event("AccountMade", { address: toSolanaWord(address), lamports: String(lamports) }, vault)];
	}

	function addedTo(address: SolanaAddress): bigint {
		const change = landed.lamports.get(address);
		return change ? change.after - change.before : 0n;
	}
}

/** The rent of an order whose input is SOL. An order of a token has a second account. */
const nativeOrderRent = accountRentLamports(programAccountSizes.order);

/**
 * Returns an event for each known rent that a transaction returned. An account without lamports is closed, since the
 * chain does not keep it.
 */
export async function closedEvents({
	deployment: { program },
	landed,
	rents,
}: {
	deployment: SolanaDeployment;
	landed: Landed;
	rents: ReadonlyMap<Hex, RentPaid>;
}): Promise<SlotEvent[]> {
	const events = closedAccounts(landed).map(async ({ address, lamports }): Promise<SlotEvent[]> => {
		const rent = rents.get(address);
		if (!rent) return [];
		const { orderId, account, lamports: booked } = rent;
		const returned = account === "record" ? lamports : await returnedByOrder(orderId, { lamports, booked });
		const data = { address, account, lamports: String(returned), booked: String(booked) };
		return [{ name: "RentReturned", data, orderId, contract: toSolanaWord(program.vault) }];
	});
	return (await Promise.all(events)).flat();

	/** Returns the lamports that came back. Anyone can have an order paid and closed in one transaction. */
	async function returnedByOrder(
		orderId: Hex,
		{ lamports, booked }: { lamports: Wei; booked: Wei },
	): Promise<Wei> {
		// The program closes no account that holds SOL of the order's owner, so the rest was paid.
		if (booked === nativeOrderRent) return booked;
		const input = landed.lamports.get(await inputAddress(program.address, orderId));
		return input?.after === 0n ? lamports + input.before : lamports;
	}
}

export function closedAccounts({ isFailed, lamports }: Landed): { address: Hex; lamports: Wei }[] {
	if (isFailed) return [];
	return [...lamports].flatMap(([address, { before, after }]) =>
		before > 0n && after === 0n ? [{ address: toSolanaWord(address), lamports: before }] : [],
	);
}
