import {
	fromSolanaWord,
	inputAddress,
	isWithinSolana,
	type Order,
	type OrderAccount,
	orderAddress,
	orderId,
	readProgramEvents,
	recordAddress,
	type SolanaAddress,
	solanaNativeToken,
	unpackDeadlines,
} from "@geoswap/protocol";
import { tokenAddressOf } from "./solana/account-address.ts";
import type { World } from "./world.ts";

/** The status and the delivered amount in a swap's row. */
type Told = { status: string; delivered_amount: bigint | null } | undefined;

/**
 * Milliseconds from an order's `openDeadline` until its rent must have come back. A worker waits for a minute, closes
 * eight accounts at a time, and waits each time until that is final.
 */
const rentWithinMs = 300_000;

/**
 * Checks what the program has done with each order of the world: it was opened and decided once, its input was paid
 * once and to the right owner, its record was made once, and all agrees with the books. `keptOut` has the swaps whose
 * delivery a chain dropped permanently.
 */
export async function checkProgram(
	world: World,
	{
		rows,
		keptOut,
	}: { rows: ReadonlyMap<string, NonNullable<Told> & { id: string }>; keptOut: ReadonlySet<string> },
): Promise<string[]> {
	const violations: string[] = [];
	for (const { index, uuid, plan, order, outcome } of world.wallets.swaps) {
		if (!order) continue;
		const row = uuid === undefined ? undefined : rows.get(uuid);
		const told = row && keptOut.has(row.id) ? undefined : row;
		const found = [
			...(plan.from === "solana" ? await checkOrder(world, { order, told, outcome }) : []),
			...(plan.to === "solana" && plan.from !== "solana" ? await checkFill(world, { order, told }) : []),
		];
		violations.push(...found.map((what) => `#${index} ${what}`));
	}
	return violations;
}

/** Returns whether the program ever opened the order. */
export async function wasOpened(world: World, order: Order): Promise<boolean> {
	return (await eventsOf(world, order, orderAddress)).some(({ name }) => name === "opened");
}

/** Returns true if every order that a worker opened, and that is over, has given back its rent. */
export async function isRentBack(world: World): Promise<boolean> {
	for (const { order, plan } of world.wallets.swaps) {
		if (order && plan.from === "solana" && isKept(world, await world.solana.orderOf(orderId(order)))) {
			return false;
		}
	}
	return true;
}

/** Returns the time by which all rent must have come back. */
export function rentBackByMs({ wallets, startMs }: World): number {
	const deadlines = wallets.swaps.flatMap(({ order, plan }) =>
		order && plan.from === "solana" ? [Number(unpackDeadlines(order.deadlines).openDeadline) * 1_000] : [],
	);
	return Math.max(startMs, ...deadlines) + rentWithinMs;
}

/** Returns whether an account keeps lamports that belong to a fee payer of the service. */
function isKept({ solana }: World, account: OrderAccount | undefined): boolean {
	return account?.isPaid === true && solana.deployment.feePayers.includes(account.payer);
}

async function checkOrder(
	world: World,
	{ order, told, outcome }: { order: Order; told: Told; outcome: string },
): Promise<string[]> {
	const violations: string[] = [];
	const [account, events, payments] = await Promise.all([
		world.solana.orderOf(orderId(order)),
		eventsOf(world, order, orderAddress),
		paymentsOf(world, order),
	]);
	const opens = events.filter(({ name }) => name === "opened").length;
	const decisions = events.flatMap(({ name }) => (name === "released" || name === "refunded" ? [name] : []));
	const fills = events.filter(({ name }) => name === "filled").length;
	if (opens > 1) violations.push(`was opened ${opens} times`);
	if (decisions.length > 1) violations.push(`was decided as ${decisions.join(" and ")}`);
	if (fills > 1) violations.push(`was filled ${fills} times`);
	if (payments.length > 1) violations.push(`was paid ${payments.length} times: to ${payments.join(" and ")}`);
	const [paidTo] = payments;
	const [decision] = decisions;
	if (paidTo && paidTo !== (decision === "released" ? "vault" : "wallet")) {
		violations.push(`was ${decision}, but paid to the ${paidTo}`);
	}
	if (isKept(world, account)) violations.push("has the fee payer's rent although it is paid");
	const isOpened = opens > 0;
	if (outcome === "expired" && isOpened) violations.push("is expired for its caller, although it was opened");
	if (told?.status === "failed" && isOpened) violations.push("has failed, although its order was opened");
	if (told?.status === "settled" && paidTo !== "vault") {
		violations.push(`is settled, but its input is with the ${paidTo ?? "program"}`);
	}
	if (told?.status === "refunded" && paidTo !== "wallet") {
		violations.push(`is refunded, but its input is with the ${paidTo ?? "program"}`);
	}
	return violations;
}

async function checkFill(world: World, { order, told }: { order: Order; told: Told }): Promise<string[]> {
	const violations: string[] = [];
	const record = await world.solana.recordOf(orderId(order));
	const events = await eventsOf(world, order, recordAddress);
	const endings = events.flatMap(({ name }) => (name === "filled" || name === "voided" ? [name] : []));
	if (endings.length > 1) violations.push(`has several records: ${endings.join(" and ")}`);
	if (record?.state !== endings[0]) {
		violations.push(`has a record that says ${record?.state}, but was ${endings[0] ?? "never recorded"}`);
	}
	if (told?.status === "settled" && (record?.state !== "filled" || record.amount !== told.delivered_amount)) {
		violations.push(`is settled, but its record says ${record?.state} with ${record?.amount}`);
	}
	if (told?.status === "refunded" && record?.state === "filled") {
		violations.push("is refunded, but its record says filled");
	}
	return violations;
}

/**
 * Returns the program's events about an order, oldest first, from the transactions that contain one of its accounts.
 */
async function eventsOf({ solana }: World, order: Order, addressOf: typeof orderAddress) {
	const { address: program } = solana.deployment.program;
	const id = orderId(order);
	return solana
		.landedOf(await addressOf(program, id))
		.filter(({ error }) => error === null)
		.flatMap(({ meta }) => readProgramEvents(meta.logs(), program))
		.filter((event) => event.orderId === id);
}

type Payee = "vault" | "wallet" | "stranger";

/** Returns who got the input of an order, once for each time that it left the order's accounts. */
async function paymentsOf({ solana }: World, order: Order): Promise<Payee[]> {
	const { address: program, vault } = solana.deployment.program;
	const token = fromSolanaWord(order.inputToken);
	const isNative = token === solanaNativeToken;
	const holder = await (isNative ? orderAddress : inputAddress)(program, orderId(order));
	const accountOf = (owner: SolanaAddress) => (isNative ? owner : tokenAddressOf({ owner, token }));
	const payees: [Payee, SolanaAddress][] = [
		["vault", accountOf(vault)],
		["wallet", accountOf(fromSolanaWord(order.wallet))],
	];
	const toppedUp = isNative && isWithinSolana(order) ? order.topUp : 0n;
	return solana.landedOf(holder).flatMap(({ error, wire, lamports, tokens }): Payee[] => {
		const changeOf = (address: SolanaAddress): bigint => {
			const at = wire.keys.indexOf(address);
			if (at < 0) return 0n;
			if (isNative) return (lamports.after[at] ?? 0n) - (lamports.before[at] ?? 0n);
			const amountOf = (side: typeof tokens.before) =>
				BigInt(side.find(({ accountIndex }) => accountIndex === at)?.uiTokenAmount.amount ?? 0);
			return amountOf(tokens.after) - amountOf(tokens.before);
		};
		if (error !== null || changeOf(holder) > -order.inputAmount) return [];
		// The transaction that takes SOL for an order within Solana also pays its top-up, out of the same vault.
		const due = (payee: Payee) => order.inputAmount - (payee === "vault" ? toppedUp : 0n);
		return [payees.find(([payee, address]) => changeOf(address) >= due(payee))?.[0] ?? "stranger"];
	});
}
