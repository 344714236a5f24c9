import { randomUUID } from "node:crypto";
import { deriveDevnetKeys } from "@geoswap/devnet";
import {
	attestationDigest,
	attestationMessage,
	type ChainDeployment,
	fromSwapKey,
	type Order,
	orderAddress,
	orderId,
	orderToJson,
	type ProgramDeployment,
	packDeadlines,
	type SolanaAddress,
	solanaNativeToken,
	tokenAccountOf,
	toSolanaWord,
	toWord,
} from "@geoswap/protocol";
import type { KeyPairSigner } from "@solana/kit";
import { getCloseAccountInstruction } from "@solana-program/token";
import { type Hex, hexToBytes } from "viem";
import { sign } from "viem/accounts";
import type { SolanaKeys } from "../../src/chain/solana/send/sign-instructions.ts";
import { decodeWireTransaction } from "../../src/chain/solana/wallet/check-signed-transaction.ts";
import { laneKey } from "../../src/durable/poke-targets.ts";
import { storeAttestation } from "../../src/job/attestations.ts";
import { createSolanaLane } from "../../src/lane/solana/create-solana-lane.ts";
import { queueWork } from "../lane/lane-scene.ts";
import { plainPayments } from "../lane/payment-facts.ts";
import {
	depositOrder,
	devnetWallet,
	followReally,
	mintOf,
	newSolanaWallet,
	payoutOrder,
	type SolanaScene,
	signSolanaOp,
} from "../lane/solana-lane-scene.ts";
import { payout, quietLog, solanaLanePolicy } from "../lane/solana-lanes.ts";
import { solanaActions } from "../solana/solana-actions.ts";
import { waitForOrder } from "../swap/due-orders.ts";

/** The message of a transaction that a lane signed. */
export type SolanaPayload = {
	kind: string;
	message: Uint8Array;
	/** The order that a release or a refund ends. */
	order?: Order;
};

/** Has the real lanes do work of every kind in the program on a real chain. Returns every message that they signed. */
export async function recordSolanaLanes(
	scene: SolanaScene,
	{
		program,
		evm,
		keys,
		passTime,
	}: {
		program: ProgramDeployment;
		/** The other chain of the orders. */
		evm: ChainDeployment;
		keys: SolanaKeys;
		/** Lets time pass on the chain and for the signer. */
		passTime: (seconds: number) => Promise<void>;
	},
): Promise<SolanaPayload[]> {
	const { pool, chain, solana } = scene;
	const [feePayer] = chain.deployment.feePayers as [SolanaAddress];
	const on = await solanaActions(solana);
	const orders: Order[] = [];
	let secondsAhead = 0;
	const nowMs = () => Date.now() + secondsAhead * 1_000;
	const later = async (seconds: number) => {
		secondsAhead += seconds;
		await passTime(seconds);
		await solana.admin.warp({ slots: 40 });
	};
	const lane = createSolanaLane({
		chain,
		keys,
		policy: solanaLanePolicy,
		pool,
		engine: { poke: async () => {} },
		deliveryNow: ({ delivery }) => delivery,
		payments: { ...plainPayments, worthE18: ({ amount }) => amount, fillMarginBps: 1_000 },
		nowMs,
		log: quietLog,
	});
	const runLane = async () => {
		await followReally(scene);
		await lane(laneKey({ chainId: chain.chainId, relayer: toSolanaWord(feePayer) }));
		for (const slots of [3, 40]) {
			await solana.admin.warp({ slots });
			await followReally(scene);
		}
	};

	const deadlines = () => {
		const now = BigInt(Math.floor(nowMs() / 1_000));
		return packDeadlines({ openDeadline: now + 300n, fillDeadline: now + 900n, refundAfter: now + 4_000n });
	};
	const remember = async (order: Order): Promise<Order> => {
		orders.push(order);
		await pool.query(
			`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery)
			values ($1, $2, $3, 1, 1000, '{"kind":"inventory","amount":"1"}') on conflict do nothing`,
			[fromSwapKey(order.swapKey), hexToBytes(orderId(order)), orderToJson(order)],
		);
		await waitForOrder(pool, order);
		return order;
	};
	const open = async (
		terms: Partial<Order> & { symbol?: string } = {},
		given?: KeyPairSigner,
	): Promise<Order> => {
		const wallet = given ?? (await devnetWallet(scene));
		const order = await remember(
			depositOrder(scene, {
				destinationChainId: BigInt(evm.chainId),
				destinationVault: toWord(evm.contracts.vault),
				outputToken: toWord(evm.settlementToken),
				deadlines: deadlines(),
				...terms,
				wallet: toSolanaWord(wallet.address),
			}),
		);
		const op = await signSolanaOp(scene, { order, wallet, feePayer });
		await queueWork(pool, order, { kind: "open", payload: { op } });
		await runLane();
		return order;
	};
	const toSolana = async (terms: Partial<Order> & { symbol?: string } = {}): Promise<Order> =>
		remember(
			payoutOrder(scene, {
				originChainId: BigInt(evm.chainId),
				escrow: toWord(evm.contracts.escrow),
				originVault: toWord(evm.contracts.vault),
				attesterSet: evm.attesterSet.hash,
				inputToken: toWord(evm.settlementToken),
				deadlines: deadlines(),
				recipient: toSolanaWord((await newSolanaWallet(scene)).address),
				...terms,
			}),
		);
	const within = async (): Promise<Partial<Order>> => ({
		destinationChainId: BigInt(chain.chainId),
		destinationVault: toSolanaWord(program.vault),
		outputToken: toSolanaWord(mintOf(chain, "USDT")),
		recipient: toSolanaWord((await newSolanaWallet(scene)).address),
	});
	const end = async (kind: "release" | "refund", order: Order, by: "attesters" | "others"): Promise<void> => {
		const attested = by === "attesters";
		const work =
			kind === "release" ? ({ kind, payload: {} } as const) : ({ kind, payload: { attested } } as const);
		const swapId = await queueWork(pool, order, work, { isJustified: false });
		if (!attested) return;
		await pool.query("update jobs set state = 'unattested' where swap_id = $1 and kind = $2", [swapId, kind]);
		const said = kind === "release" ? "Release" : "Refund";
		const hash = attestationDigest(attestationMessage(said, [order]));
		const signatures = await Promise.all(
			deriveDevnetKeys()
				.attesters.slice(0, 2)
				.map((privateKey): Promise<Hex> => sign({ hash, privateKey, to: "hex" })),
		);
		await storeAttestation(pool, {
			id: randomUUID(),
			chainId: chain.chainId,
			kind: said,
			set: program.attesterSet,
			signatures,
			orderIds: [orderId(order)],
		});
	};
	const fill = (order: Order, delivery = payout) =>
		queueWork(pool, order, { kind: "fill", payload: { delivery } });

	const { address } = await devnetWallet(scene);
	await solana.admin.airdrop({ address, lamports: 1_000_000_000n });
	const dear = 30_000_000n;
	const poor = await newSolanaWallet(scene, [{ symbol: "USDC", amount: dear }]);
	const [released, lamports, refunded, late, swapped, given] = [
		await open(),
		await open({ symbol: "SOL" }),
		await open(),
		await open(),
		await open(await within()),
		await open(await within()),
	];
	const closed = await open({ inputAmount: dear }, poor);
	const account = await tokenAccountOf({ owner: poor.address, token: mintOf(chain, "USDC") });
	const destination = on.feePayer.address;
	await on.land(await on.sign([getCloseAccountInstruction({ account, destination, owner: poor })]));
	for (const order of [released, lamports]) await end("release", order, "attesters");
	for (const order of [refunded, closed]) await end("refund", order, "attesters");
	await end("refund", given, "others");
	await fill(swapped);
	await fill(await toSolana());
	const sol = await toSolana({ outputToken: toSolanaWord(solanaNativeToken), minOutput: 1n });
	await fill(sol, { kind: "payout", amount: 5_000_000n, unusedRent: 0n });
	await queueWork(pool, await toSolana(), { kind: "void", payload: {} });
	await runLane();
	await later(4_001);
	await end("refund", late, "others");
	await runLane();
	await pool.query("update swaps set ended_at = now(), status = 'settled'");
	await pool.query("update rents set closable_at = now() - interval '2 minutes'");
	await later(90_000);
	// The sweep pays this lamport to the order's owner before it closes the account.
	const paidLate = await orderAddress(chain.deployment.program.address, orderId(lamports));
	await solana.admin.airdrop({ address: paidLate, lamports: 1n });
	await later(0);
	// The second run sends what the first one could not.
	await runLane();
	await runLane();

	const { rows } = await pool.query<{ kind: string; raw: Buffer; jobs: { orderId?: Hex }[] }>(
		"select kind, raw, jobs from lane_transactions where length(raw) > 0 order by created_at, nonce",
	);
	return rows.flatMap(({ kind, raw, jobs }) => {
		const wire = decodeWireTransaction(new Uint8Array(raw));
		const order = orders.find((one) => orderId(one) === jobs[0]?.orderId);
		return wire ? [{ kind, message: wire.message, ...(order && { order }) }] : [];
	});
}
