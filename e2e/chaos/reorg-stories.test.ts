import { type TestChain, withoutBlocks } from "@geoswap/devnet";
import { fromSwapId, orderSchema, unpackDeadlines } from "@geoswap/protocol";
import { type Client, getStatus, waitForSwap } from "@geoswap/sdk";
import { type Hex, parseUnits } from "viem";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type SignedSwap, type SwapCaller, signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { deepFinality } from "../deep-finality.ts";
import { connectDatabase, type DatabaseConnection } from "../environment/connect-database.ts";
import type { OwnEnvironment } from "../environment/environment.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { watchFirstFills } from "../expect/first-fills.ts";
import { watchUnfinalDeliveries } from "../expect/unfinal-deliveries.ts";
import { ownEnvironment } from "../own-environment.ts";
import { type OrderEventLog, readOrderEvents, reorganize } from "../trouble/reorganize.ts";
import { assetAddress } from "../wallet/make-order.ts";

/** With this block time a block is final after 26 seconds. */
const blockMs = 400;
const patience = { timeout: 120_000, interval: 200 };
const capUsd = 1_000;
/** Swaps of 100 USD each, which alone exceed the cap. */
const crowdSize = 11;

const environmentOf = ownEnvironment(
	deepFinality({
		blockMs,
		perChain: [
			{
				unfinalCapUsd: capUsd,
				depths: [
					{ upToUsd: 60, blocks: 1 },
					{ upToUsd: 150, blocks: 3 },
					{ upToUsd: 320, blocks: 15 },
				],
			},
			// A deposit on this chain never has enough time left, because making it again after a reorg could take all of its
			// time.
			{ openSeconds: 61, finalitySeconds: 65, fillSeconds: 140, refundSeconds: 150 },
		],
	}),
);

let environment: OwnEnvironment;
let client: Client;
let database: DatabaseConnection;

beforeAll(async () => {
	environment = environmentOf();
	client = await environment.newClient();
	database = await connectDatabase(environment.databaseUrl);
});
afterAll(() => database?.end());

test("a deposit is filled at the depth for its value, and only once final if it is large, late in its time or above the cap", async () => {
	const { origin, destination } = environment;
	const fills = watchFirstFills([origin, destination]);
	const watched = await connectDatabase(environment.databaseUrl);
	const atRisk = watchUnfinalDeliveries(watched);
	onTestFinished(async () => {
		await Promise.all([fills.stop(), atRisk.stop()]);
		await watched.end();
	});
	const there = { from: origin, to: destination };
	const back = { from: destination, to: origin };
	const signThere = (amount: string) => sign({ ...there, amount });
	const [crowd, small, middle, large, largest, late] = await Promise.all([
		Promise.all(Array.from({ length: crowdSize }, () => signThere("100"))),
		signThere("50"),
		signThere("120"),
		signThere("300"),
		signThere("400"),
		sign({ ...back, amount: "50" }),
	]);
	const all = [small, middle, large, largest, late, ...crowd];
	// The cap has room for the first swaps, regardless of which others come.
	await Promise.all([small, middle, large, largest, late].map(submit));
	await expect.poll(() => fills.seen.has(idOf(large)), patience).toBe(true);
	await Promise.all(crowd.map(submit));
	const ended = await Promise.all(all.map((swap) => waitForSwap(client, idOfSwap(swap))));
	expect(ended.map(({ status }) => status)).toEqual(all.map(() => "settled"));

	const depthOf = (swap: Signed) => {
		const fill = fills.seen.get(idOf(swap));
		if (!fill) throw new Error("it was delivered");
		return { depth: fill.latest - fill.opened, isFinal: fill.opened <= fill.finalized };
	};
	console.log(
		"depth at delivery:",
		Object.fromEntries(
			Object.entries({ small, middle, large, largest, late }).map(([name, swap]) => [name, depthOf(swap)]),
		),
	);
	expect(depthOf(small).depth).toBeGreaterThanOrEqual(1);
	expect(depthOf(middle).depth).toBeGreaterThanOrEqual(3);
	expect(depthOf(large).depth).toBeGreaterThanOrEqual(15);
	for (const early of [small, middle, large]) expect(depthOf(early).isFinal).toBe(false);
	for (const waited of [largest, late]) expect(depthOf(waited).isFinal).toBe(true);

	const held = await database.query<{ swap_id: string }>(
		"select distinct swap_id from swap_events where fact = 'exposure-cap'",
	);
	const heldIds = held.map(({ swap_id }) => swap_id);
	expect(heldIds.length).toBeGreaterThan(0);
	for (const id of heldIds) expect(crowd.map((swap) => fromSwapId(idOfSwap(swap)))).toContain(id);
	const most = (await atRisk.stop()).get(origin.chainId) ?? 0n;
	console.log(
		`${heldIds.length} of ${crowd.length} waited at the cap; most at risk: ${Number(most) / 100} USD`,
	);
	expect(most).toBeGreaterThan(0n);
	expect(most).toBeLessThanOrEqual(BigInt(capUsd * 100));
});

test("a deposit that a reorg drops is repeated by the same op, before and after delivery", async () => {
	const { origin, destination } = environment;
	const swap = await sign({ from: origin, to: destination, amount: "120" });
	await submit(swap);
	const first = await eventOf(origin, swap, "Opened");
	await dropFrom(origin, first);
	const second = await eventOf(origin, swap, "Opened");
	expect(second.blockHash).not.toBe(first.blockHash);

	const settled = await waitForSwap(client, idOfSwap(swap));
	expect(settled.status).toBe("settled");
	const third = await eventOf(origin, swap, "Opened");
	await dropFrom(origin, third);
	await expect.poll(() => eventsOf(origin, swap, "Opened"), patience).toHaveLength(1);
	expect((await eventOf(origin, swap, "Opened")).blockHash).not.toBe(third.blockHash);
	expect(await getStatus(client, idOfSwap(swap))).toMatchObject({ status: "settled" });
	expect(await eventsOf(destination, swap, "Filled")).toHaveLength(1);
	expect(await holds(swap, swap.to)).toBe(settled.funds.amount);
	expect(await holds(swap, swap.from)).toBe(0n);
});

test("a settled delivery that a reorg drops is repeated, and the status stays settled and names the new transaction", async () => {
	const { origin, destination } = environment;
	const swap = await sign({ from: origin, to: destination, amount: "50" });
	await submit(swap);
	const before = await waitForSwap(client, idOfSwap(swap));
	expect(before).toMatchObject({ status: "settled" });
	const filled = await eventOf(destination, swap, "Filled");
	await dropFrom(destination, filled);
	expect(await holds(swap, destination)).toBe(0n);
	const statuses = new Set<string>();
	await expect
		.poll(async () => {
			const { status, deliveryTxHash } = await getStatus(client, idOfSwap(swap));
			statuses.add(status);
			const [again] = await eventsOf(destination, swap, "Filled");
			return again !== undefined && again.transactionHash === deliveryTxHash;
		}, patience)
		.toBe(true);
	const again = await eventOf(destination, swap, "Filled");
	expect([...statuses]).toEqual(["settled"]);
	expect(again.blockHash).not.toBe(filled.blockHash);
	expect(await holds(swap, destination)).toBe(before.funds.amount);
});

test("nothing is delivered late in the fill window, and the whole input is refunded", async () => {
	const { origin, destination } = environment;
	const swap = await sign({ from: origin, to: destination, amount: "50" });
	const { fillDeadline } = unpackDeadlines(orderSchema.parse(swap.signed.build.geoOp.order).deadlines);
	// No deposit is mined until, by the other chain's clock, too little of the fill window is left.
	await withoutBlocks(origin, async () => {
		await submit(swap);
		const { testClient, publicClient } = destination;
		const lastFill = Number(fillDeadline) - 65;
		await testClient.request<{ Method: "anvil_setTime"; Parameters: [number]; ReturnType: unknown }>({
			method: "anvil_setTime",
			params: [lastFill + 1],
		});
		const time = async () => Number((await publicClient.getBlock()).timestamp);
		await expect.poll(time, patience).toBeGreaterThan(lastFill);
		const seen = () =>
			database.query("select from chain_heads where chain_id = $1 and timestamp > $2", [
				destination.chainId,
				lastFill,
			]);
		await expect.poll(seen, patience).toHaveLength(1);
	});
	const ended = await waitForSwap(client, idOfSwap(swap));
	expect(ended).toMatchObject({ status: "refunded", failure: { code: "TOO_LATE" } });
	expect(await eventsOf(destination, swap, "Filled")).toEqual([]);
	expect(await holds(swap, origin)).toBe(swap.amount);
	expect(await holds(swap, destination)).toBe(0n);
});

test("after all these swaps nothing is reserved or in escrow, and the books match the chains to the unit", async () => {
	await expectBooksExact(environment, { withinMs: patience.timeout });
});

type Terms = { from: TestChain; to: TestChain; amount: string };
type Signed = SwapCaller & { from: TestChain; to: TestChain; amount: bigint; signed: SignedSwap };

/** Creates a wallet with `amount` USDC, and signs a swap of them to USDC on another chain. */
async function sign({ from, to, amount: text }: Terms): Promise<Signed> {
	const amount = parseUnits(text, 6);
	const account = await environment.newWallet({ chain: from, token: "USDC", amount });
	const caller = { client, pins: environment.deployment, account };
	const intent = swapIntent({
		from: { chain: from, token: "USDC", amount },
		to: { chain: to, token: "USDC" },
		account,
	});
	return { ...caller, from, to, amount, signed: await signSwap(caller, intent) };
}

async function submit(swap: Signed): Promise<void> {
	await submitSigned(swap, swap.signed);
}

function idOf(swap: Signed): Hex {
	return swap.signed.build.geoOp.orderId as Hex;
}

function idOfSwap(swap: Signed): string {
	return swap.signed.quote.swapId;
}

function holds({ account }: Signed, chain: TestChain): Promise<bigint> {
	return tokenBalance(chain, assetAddress(chain, "USDC"), account.address);
}

async function eventsOf(
	chain: TestChain,
	swap: Signed,
	name: OrderEventLog["name"],
): Promise<OrderEventLog[]> {
	const events = await readOrderEvents(chain, 0);
	return events.filter((event) => event.name === name && event.orderId === idOf(swap));
}

/** Waits for the event and returns it. */
async function eventOf(chain: TestChain, swap: Signed, name: OrderEventLog["name"]): Promise<OrderEventLog> {
	await expect.poll(() => eventsOf(chain, swap, name), patience).toHaveLength(1);
	const [event] = await eventsOf(chain, swap, name);
	return event ?? (await eventOf(chain, swap, name));
}

/** Drops the block of an event and all later ones, with every transaction in them. */
async function dropFrom(chain: TestChain, { blockNumber }: OrderEventLog): Promise<void> {
	await reorganize(chain, { firstDropped: () => blockNumber });
}
