import { randomBytes, randomUUID } from "node:crypto";
import { devTokenAbi, type RollupNode, refreshFeeds, startRollupNode, type TestChain } from "@geoswap/devnet";
import {
	attestationMessage,
	attestationTypedData,
	type ChainKind,
	fromWord,
	geoEscrowAbi,
	type Order,
	orderId,
	type QuoteRequest,
} from "@geoswap/protocol";
import {
	type Address,
	concatHex,
	encodeFunctionData,
	type Hex,
	parseGwei,
	parseUnits,
	zeroAddress,
} from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterEach, expect, test } from "vitest";
import { testConfig, withInventoryOf } from "../../test/desk/test-prices.ts";
import { type MovingFee, movingFee, seededRandom } from "../../test/fee/fee-market.ts";
import {
	assetOf,
	createLaneScene,
	followHead,
	type LaneScene,
	queueWork,
	sendAsAnyone,
	signOp,
} from "../../test/lane/lane-scene.ts";
import { plainPayments } from "../../test/lane/payment-facts.ts";
import { connectChain } from "../chain/evm/connect-chain.ts";
import type { TipBounds } from "../chain/evm/fee/read-tip.ts";
import { readReceipts } from "../chain/evm/read/read-block.ts";
import { type BlockPrices, readBlockPrices } from "../chain/evm/read/read-block-prices.ts";
import { type NativeRecipient, readNativeRecipient } from "../chain/evm/wallet/read-wallet.ts";
import { evmChains } from "../config/chain-config.ts";
import { laneKey } from "../durable/poke-targets.ts";
import { createLane } from "../lane/evm/create-lane.ts";
import type { FreeInventory } from "../swap/facts/free-inventory.ts";
import type { Delivery } from "../swap/facts/swap-record.ts";
import { createLog } from "../telemetry/log.ts";
import { createDesk } from "./create-desk.ts";
import { createPriceCache } from "./price/price-cache.ts";

// A swap's transactions are signed and sent by real lanes to anvils behind a simulated rollup that charges for the
// data. No live chain is used. At full size the fees move, otherwise they stand still.

const isFull = Boolean(process.env.GEOSWAP_FULL);
const swaps = isFull ? 1_000 : 2;
const range = isFull ? 20 : 1;

type Market = {
	kind: ChainKind;
	/** The lowest base fees, of the chain (`l2`) and of Ethereum (`l1`). */
	l2: bigint;
	l1: bigint;
	/** In USDC. A slippage of one basis point is much less than the network cost. */
	amount: string;
	tips: TipBounds;
};
const [noTip, smallTip] = [0n, 1_000_000n];
const markets: Market[] = [
	{
		kind: "eip1559",
		l2: parseGwei("0.5"),
		l1: 0n,
		amount: "60",
		tips: { minimum: smallTip, maximum: parseGwei("1") },
	},
	{
		kind: "op-stack",
		l2: parseGwei("0.005"),
		l1: parseGwei("1"),
		amount: "5",
		tips: { minimum: smallTip, maximum: smallTip },
	},
	{
		kind: "arbitrum",
		l2: parseGwei("0.01"),
		l1: parseGwei("1"),
		amount: "5",
		tips: { minimum: noTip, maximum: noTip },
	},
];

let scene: LaneScene | undefined;
let nodes: RollupNode[] = [];
afterEach(async () => {
	await Promise.all(nodes.map((node) => node.stop()));
	nodes = [];
	await scene?.stop();
	scene = undefined;
});

test.each(markets)(
	"$kind: regardless of fees, swaps are charged 1.00 to 1.10 of their total cost, the books are right to the wei, and no bundle runs out of gas",
	async (market) => {
		const { sums, ...measured } = await measure(market, { wanted: swaps, atOnce: 1 });
		if (isFull) console.info(market.kind, measured);
		expect(measured).toMatchObject({ outOfGas: 0, unreleased: 0 });
		expect(sums.booked).toBe(sums.missing);
		expect(measured.ratio).toBeGreaterThanOrEqual(1);
		expect(measured.ratio).toBeLessThanOrEqual(1.1);
		if (!isFull) return;
		expect(measured.moved.l2).toBeGreaterThan(19);
		expect(measured.refused).toBeGreaterThan(0);
	},
	7_200_000,
);

test.runIf(isFull).each(markets)(
	"$kind: if twenty swaps share each transaction, more is charged than they cost, and no bundle runs out of gas",
	async (market) => {
		const { sums, ...measured } = await measure(market, { wanted: 200, atOnce: 20 });
		console.info(market.kind, "in bundles", measured);
		expect(measured).toMatchObject({ outOfGas: 0, unreleased: 0 });
		expect(sums.booked).toBe(sums.missing);
		expect(measured.ratio).toBeGreaterThan(1);
	},
	7_200_000,
);

/** Uses up the gas that it is given, by looping while more than 300 is left. */
const burner: Hex = "0x5b61012c5a115f5700";
/** Takes the payment and returns. */
const modest: Hex = "0x00";

type Prepare = (chain: TestChain, address: Address) => Promise<void>;
const withCode =
	(bytecode: (chain: TestChain) => Hex): Prepare =>
	({ testClient, ...chain }, address) =>
		testClient.setCode({ address, bytecode: bytecode({ testClient, ...chain }) });
const nativeRecipients: { name: string; known: NativeRecipient; prepare: Prepare; atMost: number }[] = [
	{
		name: "an account that exists",
		known: "account",
		prepare: ({ testClient }, address) => testClient.setBalance({ address, value: 1n }),
		atMost: 1.1,
	},
	{
		name: "an account that is delegated to the service's delegate",
		known: "account",
		prepare: withCode(({ deployment }) => concatHex(["0xef0100", deployment.contracts.delegate])),
		atMost: 1.1,
	},
	{ name: "a new account", known: "new-account", prepare: async () => {}, atMost: 1.1 },
	{
		name: "a contract that uses all gas it is given",
		known: "contract",
		prepare: withCode(() => burner),
		atMost: 1.1,
	},
	// It could use all gas the next time, and nothing that is read before the fill rules that out.
	{
		name: "a contract that uses little gas",
		known: "contract",
		prepare: withCode(() => modest),
		atMost: 1.2,
	},
];

test.each(nativeRecipients)(
	"a swap that pays the native token to $name is charged 1.00 to $atMost of its cost",
	async (recipient) => {
		const [market] = markets;
		if (!market) throw new Error("there is a market");
		const { sums, ...measured } = await measure(market, { wanted: 3, atOnce: 1, recipient });
		console.info(recipient.name, measured);
		expect(measured).toMatchObject({ outOfGas: 0, unreleased: 0 });
		expect(sums.booked).toBe(sums.missing);
		expect(measured.ratio).toBeGreaterThanOrEqual(1);
		expect(measured.ratio).toBeLessThanOrEqual(recipient.atMost);
	},
	120_000,
);

const measuredRecipients = nativeRecipients.slice(0, 4);

test.each(measuredRecipients)(
	"a swap that pays the native token from inventory to $name is charged 1.00 to 1.1 of its cost",
	async (recipient) => {
		const [market] = markets;
		if (!market) throw new Error("there is a market");
		const options = { wanted: 3, atOnce: 1, recipient, isFromInventory: true };
		const { sums, ...measured } = await measure(market, options);
		console.info("from inventory", measured);
		expect(measured).toMatchObject({ outOfGas: 0, unreleased: 0 });
		expect(sums.booked).toBe(sums.missing);
		expect(measured.ratio).toBeGreaterThanOrEqual(1);
		expect(measured.ratio).toBeLessThanOrEqual(1.1);
	},
	120_000,
);

/**
 * Measures this many swaps or a few more. `atOnce` of them are quoted together and share their transactions. They pay
 * USDC to their wallet, or the native token to a recipient that is prepared for each of them.
 */
async function measure(
	{ kind, l2, l1, amount, tips }: Market,
	{
		wanted,
		atOnce,
		recipient: paid,
		isFromInventory = false,
	}: {
		wanted: number;
		atOnce: number;
		recipient?: (typeof nativeRecipients)[number];
		/** True if the vault pays the native token from what it holds. Otherwise it buys the token. */
		isFromInventory?: boolean;
	},
) {
	const random = seededRandom(1);
	const own = await createLaneScene();
	scene = own;
	const { chains, pool, owner } = own;
	const sides = await Promise.all(
		[chains.origin, chains.destination].map(async (chain) => {
			const node = await startRollupNode({ kind, chain });
			nodes.push(node);
			const deployment = { ...chain.deployment, kind };
			const evm = connectChain({ chainId: chain.chainId, rpcUrl: node.url, deployment });
			return { chain, node, evm, fee: movingFee({ least: l2, range }, random) };
		}),
	);
	const [origin, destination] = sides;
	if (!origin || !destination) throw new Error("there are two chains");
	// A chain's clock advances by at least a second per block, so both chains follow the same clock.
	let clock = Math.floor(Date.now() / 1_000) + 30;
	const nowMs = () => clock * 1_000;
	const l1Fee = movingFee({ least: l1, range }, random);

	const config = isFromInventory ? withInventoryOf("ETH", testConfig(chains)) : testConfig(chains);
	const terms = {
		...config,
		chains: evmChains(config).map((one) => ({ ...one, deployment: { ...one.deployment, kind } })),
	};
	const priceCache = createPriceCache({ ...config.price, chains: sides.map(({ evm }) => evm.deployment) });
	const desk = createDesk({ config: terms, priceCache, inventory: plenty, nowMs, random: randomBytes });
	const last = new Map<number, BlockPrices>();
	const lanes = new Map(
		sides.map(({ evm }) => [
			evm.chainId,
			createLane({
				policy: {
					bundleSize: atOnce,
					replaceAfterBlocks: 50,
					minimumTipWei: String(tips.minimum),
					finalitySeconds: 5,
				},
				accounts: own.relayers.slice(0, 1),
				pool,
				engine: { poke: async () => {} },
				freshMinimum: () => 0n,
				deliveryNow: ({ delivery }) => delivery,
				tipNow: desk.tipNow,
				payments: plainPayments,
				nowMs,
				log: createLog({ level: "silent", process: "test" }),
				chain: evm,
			}),
		]),
	);
	const [{ address: relayer }] = own.relayers as [PrivateKeyAccount];
	/** In wei: the booked cost, and what is missing from the relayer. In USDC: what was charged, and what was paid. */
	const sums = { booked: 0n, missing: 0n, charged: 0n, paid: 0n };
	const counts = { swaps: 0, refused: 0, firsts: 0, unreleased: 0 };
	const gasUsed = new Map<string, number[]>();
	const known: PrivateKeyAccount[] = [];
	for (const { chain } of sides) {
		await chain.testClient.setBalance({ address: relayer, value: 10n ** 23n });
		await chain.testClient.mine({ blocks: 1 });
	}

	// On a chain in use, the escrow already holds the token.
	if (paid) await fund(chains.origin.deployment.contracts.escrow);
	// An op that delegates its wallet is alone in its transaction, so wallets whose ops are bundled are delegated
	// first.
	while (atOnce > 1 && known.length < atOnce) known.push(await newDelegated());

	let told = 0;
	while (counts.swaps < wanted) {
		if (counts.swaps >= told) {
			if (told > 0) console.info(kind, { atOnce, ...counts, ratio: ratio(), date: new Date() });
			expect(sums.booked).toBe(sums.missing);
			await refresh();
			told += 50;
		}
		for (const side of sides) await mine(side);
		await readPrices();
		const native = paid && (await nextRecipient(paid));
		const asked = nextWallets().map(({ wallet, isFirst }) => {
			const recipient = native?.known;
			const request = requestOf(wallet.address, native?.address);
			const quote = desk.quote(request, { isDelegated: !isFirst, recipient });
			return { wallet, isFirst, quote };
		});
		// Every other submit comes a block later than its quote.
		if (random() < 0.5) {
			pass(1);
			for (const side of sides) await mine(side);
			await readPrices();
		}
		const taken = asked.flatMap((one) => {
			const { order, delivery, feeMillibps, networkCost, nativeRecipient } = one.quote;
			const repriced = desk.reprice(
				{ order, delivery, feeMillibps, networkCost, nativeRecipient, isDelegated: !one.isFirst },
				{ sell: 0n, buy: 0n },
			);
			return repriced ? [{ ...one, order, repriced }] : [];
		});
		counts.refused += asked.length - taken.length;
		if (taken.length === 0) continue;
		const orders = taken.map(({ order }) => order);
		for (const { wallet, isFirst, order } of taken) {
			if (isFirst) await fund(wallet.address);
			const op = await signOp(own, { order, wallet, authorize: isFirst });
			await queueWork(pool, order, { kind: "open", payload: { op } });
		}
		await run(origin, taken[0]?.isFirst ? "first open" : "later open");
		pass(1);
		for (const { order, repriced } of taken) {
			const { delivery } = repriced;
			expect(delivery.kind).toBe(paid && !isFromInventory ? "router" : "inventory");
			const spends = assetOf(chains.destination, isFromInventory ? "ETH" : "USDC");
			await queueWork(pool, order, { kind: "fill", payload: { delivery } }, { spends });
		}
		await run(destination, "fill");
		pass(2);
		await attest(orders);
		for (const order of orders) await queueWork(pool, order, { kind: "release", payload: {} });
		await pool.query("update jobs set attestation_id = (select id from attestations) where kind = 'release'");
		await run(origin, "release");
		for (const order of orders) if ((await stateOf(order)) !== 2) counts.unreleased++;
		await owner.query("truncate attestations");
		for (const { wallet, isFirst, quote, repriced } of taken) {
			// The swap is also charged the amount by which the vault spends less than was quoted.
			sums.charged += quote.networkCost + spentBy(quote.delivery) - spentBy(repriced.delivery);
			counts.swaps++;
			if (!isFirst) continue;
			counts.firsts++;
			known.push(wallet);
		}
	}
	return {
		sums,
		...counts,
		ratio: ratio(),
		outOfGas: nodes.flatMap((node) => node.outOfGas).length,
		/** The highest fee as a multiple of the lowest. */
		moved: { l1: span(l1Fee), l2: span(origin.fee) },
		meanGas: Object.fromEntries([...gasUsed].map(([name, all]) => [name, mean(all)])),
	};

	function ratio(): number {
		return Number(sums.charged) / Number(sums.paid);
	}

	/** Returns the wallets of the next swaps. Half of the swaps that come alone are their wallet's first. */
	function nextWallets(): { wallet: PrivateKeyAccount; isFirst: boolean }[] {
		if (atOnce > 1) return known.map((wallet) => ({ wallet, isFirst: false }));
		const isFirst = known.length === 0 || random() < 0.5;
		const wallet = isFirst ? undefined : known[Math.floor(random() * known.length)];
		return [{ wallet: wallet ?? privateKeyToAccount(generatePrivateKey()), isFirst }];
	}

	/** Returns an address that was never paid, with its reading as the API reads it for a quote. */
	async function nextRecipient({ prepare, known }: (typeof nativeRecipients)[number]) {
		const { address } = privateKeyToAccount(generatePrivateKey());
		await prepare(chains.destination, address);
		const signal = AbortSignal.timeout(10_000);
		if (!destination) throw new Error("there are two chains");
		const native = await readNativeRecipient(destination.evm, { address, signal });
		expect(native).toBe(known);
		return { address, known: { hasAccount: true, payProblem: undefined, native } };
	}

	async function newDelegated(): Promise<PrivateKeyAccount> {
		const wallet = privateKeyToAccount(generatePrivateKey());
		await fund(wallet.address);
		const { testClient, deployment } = chains.origin;
		await testClient.setCode({
			address: wallet.address,
			bytecode: concatHex(["0xef0100", deployment.contracts.delegate]),
		});
		return wallet;
	}

	async function refresh(): Promise<void> {
		for (const { chain } of sides) {
			await chain.testClient.setNextBlockTimestamp({ timestamp: BigInt(++clock) });
			await refreshFeeds(chain, chain.deployment);
		}
		clock += 60;
	}

	function span(fee: MovingFee): number {
		return Number(fee.highest()) / Number(fee.lowest());
	}

	function requestOf(walletAddress: Address, recipient?: Address): QuoteRequest {
		return {
			originChain: chains.origin.chainId,
			destinationChain: chains.destination.chainId,
			inputToken: assetOf(chains.origin, "USDC"),
			outputToken: assetOf(chains.destination, recipient ? "ETH" : "USDC"),
			amount: parseUnits(amount, 6),
			walletAddress,
			recipient,
			slippageBps: 1,
		};
	}

	async function readPrices(): Promise<void> {
		for (const { evm } of sides) {
			const block = await evm.client.getBlock();
			const prices = await readBlockPrices(evm, {
				block,
				topUsd: 500_000,
				tips,
				previous: last.get(evm.chainId),
			});
			last.set(evm.chainId, prices);
			priceCache.update(prices, { nowMs: nowMs() });
		}
	}

	/** Gives the next block the current fees. */
	async function setFees({ chain, node, fee }: (typeof sides)[number]): Promise<void> {
		await chain.testClient.setNextBlockTimestamp({ timestamp: BigInt(++clock) });
		await chain.testClient.setNextBlockBaseFeePerGas({ baseFeePerGas: fee.now() });
		await node.setL1BaseFee(l1Fee.now());
	}

	async function mine(side: (typeof sides)[number]): Promise<void> {
		await setFees(side);
		await side.chain.testClient.mine({ blocks: 1 });
	}

	/** Moves the fees over blocks. Blocks without any transaction of the test need not be mined. */
	function pass(blocks: number): void {
		for (let i = 0; i < blocks; i++) for (const fee of [l1Fee, ...sides.map((side) => side.fee)]) fee.next();
	}

	/** Runs the chain's lane, whose transaction gets a separate block, and books what that costs. */
	async function run(side: (typeof sides)[number], name: string): Promise<void> {
		const { evm, chain } = side;
		await mine(side);
		await followHead(pool, evm);
		pass(1);
		await setFees(side);
		const before = await evm.client.getBalance({ address: relayer });
		await lanes.get(evm.chainId)?.(laneKey({ chainId: evm.chainId, relayer: relayer }));
		const { rows } = await pool.query<{ hash: Uint8Array }>(
			"select hash from lane_transactions where state <> 'final'",
		);
		const hashes = rows.map(({ hash }): Hex => `0x${Buffer.from(hash).toString("hex")}`);
		expect(hashes).toHaveLength(1);
		const [hash] = hashes as [Hex];
		await expect
			.poll(() =>
				evm.client.getTransactionReceipt({ hash }).then(
					({ status }) => status,
					() => "pending",
				),
			)
			.toBe("success");
		const receipt = await evm.client.getTransactionReceipt({ hash });
		const { receipts } = await readReceipts(evm, { ...receipt, hashes });
		const wei = receipts[0]?.gasCost ?? 0n;
		sums.booked += wei;
		sums.missing += before - (await evm.client.getBalance({ address: relayer }));
		const native = priceCache.reference({ chainId: evm.chainId, asset: assetOf(chain, "ETH") });
		sums.paid += (wei * native.usdE18) / 10n ** 30n;
		gasUsed.set(name, [...(gasUsed.get(name) ?? []), Number(receipt.gasUsed)]);
		await pool.query("update jobs set state = 'done'");
		await pool.query("update lane_transactions set state = 'final'");
	}

	async function fund(wallet: Address): Promise<void> {
		const data = encodeFunctionData({
			abi: devTokenAbi,
			functionName: "mint",
			args: [wallet, parseUnits("100000", 6)],
		});
		if (origin) await setFees(origin);
		await sendAsAnyone(chains.origin, { to: assetOf(chains.origin, "USDC"), data });
	}

	async function attest(orders: Order[]): Promise<void> {
		const { threshold, attesters } = chains.origin.deployment.attesterSet;
		const typedData = attestationTypedData(attestationMessage("Release", orders));
		const signers = chains.keys.attesters.map((key) => privateKeyToAccount(key)).slice(0, threshold);
		const signatures = await Promise.all(signers.map((signer) => signer.signTypedData(typedData)));
		await pool.query(
			`insert into attestations (id, chain_id, kind, threshold, attesters, signatures, order_ids)
			values ($1, $2, 'Release', $3, $4, $5, $6)`,
			[
				randomUUID(),
				chains.origin.chainId,
				threshold,
				JSON.stringify(attesters),
				JSON.stringify(signatures),
				JSON.stringify(orders.map(orderId)),
			],
		);
	}

	function stateOf(order: Order): Promise<number> {
		return chains.origin.publicClient.readContract({
			address: fromWord(order.escrow),
			abi: geoEscrowAbi,
			functionName: "orderState",
			args: [orderId(order)],
		});
	}
}

/** The inventory of vaults that hold more than any swap of the test needs. */
const plenty: FreeInventory = {
	of: ({ token }) => {
		const amount = token === zeroAddress ? parseUnits("1000", 18) : parseUnits("100000", 6);
		return { balance: amount, reserved: 0n, free: amount, beingSold: 0n };
	},
	isCurrent: () => true,
};

/** Returns the amount of the settlement token that the vault spends. */
function spentBy(delivery: Delivery): bigint {
	return delivery.kind === "router" ? delivery.budget : delivery.amount;
}

function mean(values: readonly number[]): number {
	return Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
}
