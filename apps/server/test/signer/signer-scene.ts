import { solanaFeeds, startTestChains, startTestSolana, type TestChain } from "@geoswap/devnet";
import { attestationMessage, type Deployment, fromWord, type Order, orderToJson } from "@geoswap/protocol";
import { hexToBytes, serializeTransaction } from "viem";
import { type Bundle, encodeBundle } from "../../src/chain/evm/send/encode-bundle.ts";
import type { SignedTransaction } from "../../src/chain/solana/send/sign-instructions.ts";
import { decodeWireTransaction } from "../../src/chain/solana/wallet/decode-wire-transaction.ts";
import { orderActions } from "../order/order-actions.ts";
import { solanaActions } from "../solana/solana-actions.ts";
import { noCap, startTestSigner, type TestSigner } from "./start-test-signer.ts";

/** The finality of each chain in the signer's file. */
export const finalitySeconds = 20;
/** More than an order lasts, and less than the certificates of the test. */
export const markerSeconds = 5 * 86_400;
/** With such slots, only the actions of the test let slots of Solana pass. */
const slowSlotMs = 3_600_000;
/** The amount that each fill and payout pays. */
const amount = 10_000_000n;

export type SignerScene = Awaited<ReturnType<typeof createSignerScene>>;

/**
 * Creates two EVM chains, Solana, and a remote signer with all keys and nodes of its own, which pays nothing that it cannot
 * prove. The actions ask it for signatures and send nothing.
 */
export async function createSignerScene({
	rpcUrlOf = ({ rpcUrl }) => rpcUrl,
}: {
	/** The address of the signer's node of a chain. */
	rpcUrlOf?: (chain: TestChain) => string;
} = {}) {
	const chains = await startTestChains();
	const solana = await startTestSolana({ slotMs: slowSlotMs, feeds: solanaFeeds(chains.origin.deployment) });
	const actions = orderActions(chains);
	const on = await solanaActions(solana);
	const { origin, destination, keys } = chains;
	/** How far the signer's clock is ahead. */
	const clock = { aheadMs: 0 };

	function startSigner(): Promise<TestSigner> {
		const deployment: Deployment = { ...chains.deployment, solana: solana.deployment };
		const common = { clients: ["worker"], signaturesPerHour: 100_000 };
		const capsOf = (assets: readonly { address: string }[]) =>
			Object.fromEntries(assets.map(({ address }) => [address, noCap]));
		const chainOf = (chain: TestChain) => [
			chain.chainId,
			{
				rpcUrl: rpcUrlOf(chain),
				outflow: capsOf(chain.deployment.assets),
				finalitySeconds,
				maxFeePerGasWei: String(500n * 10n ** 9n),
				maxTransactionFeeWei: String(10n ** 19n),
			},
		];
		const relayerOf = ({ chainId }: TestChain) => [
			`relayer-${chainId}`,
			{ use: "relayer", reference: "env:RELAYER", ...common, chainId, feesWei: noCap },
		];
		const caps = capsOf(solana.deployment.assets);
		return startTestSigner({
			deployment,
			nowMs: () => Date.now() + clock.aheadMs,
			secrets: {
				RELAYER: hexToBytes(keys.relayers[0] ?? "0x"),
				ATTESTER: hexToBytes(keys.attesters[0] ?? "0x"),
				FEE_PAYER: (solana.keys.feePayers[0] ?? new Uint8Array()).slice(0, 32),
				ESCROW: solana.keys.escrow.slice(0, 32),
				VAULT: solana.keys.vault.slice(0, 32),
				NEXT_ESCROW: (solana.keys.wallets[1] ?? new Uint8Array()).slice(0, 32),
			},
			config: {
				chains: Object.fromEntries([origin, destination].map(chainOf)),
				solana: { rpcUrl: solana.rpcUrl, outflow: caps, refunds: caps, finalitySeconds, markerSeconds },
				keys: {
					...Object.fromEntries([origin, destination].map(relayerOf)),
					attester: { use: "attester", reference: "env:ATTESTER", ...common },
					receipts: { use: "receipts", reference: "env:RELAYER", ...common },
					"fee-payer": {
						use: "solana-fee-payer",
						reference: "env:FEE_PAYER",
						...common,
						feesLamports: noCap,
					},
					escrow: { use: "solana-escrow", reference: "env:ESCROW", ...common },
					vault: { use: "solana-vault", reference: "env:VAULT", ...common },
				},
			},
		});
	}
	let signer = await startSigner();

	/** Returns `signed`, or the reason of the refusal. */
	async function ask(key: string, payload: object): Promise<string> {
		const client = signer.clientOf("worker");
		const { status, body } = await client.post(`/sign/${key}`, payload);
		client.close();
		return status === 200 ? "signed" : (body as { reason: string }).reason;
	}

	let tip = 10n ** 9n;
	async function relay(chain: TestChain, bundle: Bundle): Promise<string> {
		const nonce = await chain.publicClient.getTransactionCount({ address: actions.relayer.address });
		// Another fee each time, so that no payload is the same as one before.
		tip += 1n;
		const unsigned = serializeTransaction({
			type: "eip1559",
			chainId: chain.chainId,
			nonce,
			gas: 1_000_000n,
			maxFeePerGas: 10n ** 10n,
			maxPriorityFeePerGas: tip,
			...encodeBundle(bundle),
		});
		return ask(`relayer-${chain.chainId}`, { kind: "transaction", unsigned });
	}

	async function askSolana(key: string, { raw }: SignedTransaction, order?: Order): Promise<string> {
		const wire = decodeWireTransaction(hexToBytes(raw));
		const message = Buffer.from(wire?.message ?? []).toString("base64");
		return ask(key, { kind: "message", message, ...(order && { order: orderToJson(order) }) });
	}

	/** Asks two keys for the same message, and returns both answers if they differ. */
	async function askBoth(
		key: "escrow" | "vault",
		make: () => Promise<SignedTransaction>,
		order: Order,
	): Promise<string> {
		// A new blockhash makes another message of the same transaction.
		await solana.admin.warp({ slots: 1 });
		const made = await make();
		const answers = [await askSolana(key, made, order), await askSolana("fee-payer", made, order)];
		return [...new Set(answers)].join();
	}

	/** Has the signer co-sign an order's deposit, and lands it. */
	async function deposit(order: Order): Promise<Order> {
		const signed = await on.signDeposit(order);
		const answer = await askSolana("fee-payer", signed);
		if (answer !== "signed") throw new Error(`the deposit is refused: ${answer}`);
		await on.land(signed);
		return order;
	}

	type Terms = Parameters<typeof actions.makeOrder>[0];
	return {
		chains,
		solana,
		actions,
		on,
		clock,
		amount,
		signer: () => signer,
		ask,
		askSolana,
		/** Starts another signer that has the same keys and knows nothing, and requests signatures from it until `useAgain`. */
		useAnother: async () => {
			const first = signer;
			signer = await startSigner();
			return {
				useAgain: async () => {
					await signer.stop();
					signer = first;
				},
			};
		},
		/** Replaces the signer by one that has the same keys and knows nothing. */
		loseState: async () => {
			await signer.stop();
			signer = await startSigner();
		},

		fill: (order: Order) => {
			const item = { order, amount, minOutput: 0n, poolFee: 0, secondPoolFee: 0 };
			return relay(destination, { kind: "fill", vault: fromWord(order.destinationVault), fills: [item] });
		},
		voidEvm: (order: Order) =>
			relay(destination, { kind: "void", vault: fromWord(order.destinationVault), orders: [order] }),
		lateRefund: (order: Order) =>
			relay(origin, { kind: "late-refund", escrow: fromWord(order.escrow), order }),
		attest: (kind: "Release" | "Refund", order: Order) =>
			ask("attester", { kind: "attestation", message: attestationMessage(kind, [order]) }),
		payout: (order: Order) => askBoth("vault", () => on.signPayout(order, amount), order),
		voidSolana: (order: Order) => askBoth("vault", () => on.signVoid(order), order),
		refundSolana: (order: Order, options: { isVoided?: boolean } = {}) =>
			askBoth("escrow", () => on.signRefund(order, options), order),
		releaseSolana: (order: Order) => askBoth("escrow", () => on.signRelease(order), order),
		closeMarker: (order: Order, base: "vault" | "escrow") =>
			askBoth(base, () => on.signClose(order, base), order),

		/** Returns an order from one EVM chain to the other whose input is in the escrow. */
		opened: async (terms: Partial<Order> = {}): Promise<Order> => {
			const order = { ...(await actions.makeOrder()), ...terms };
			await actions.open(order);
			return order;
		},
		/** Returns an order from an EVM chain to Solana whose input is in the escrow. */
		openedToSolana: async (terms: Partial<Order> = {}): Promise<Order> => {
			const order = { ...on.toSolana(await actions.makeOrder()), ...terms };
			await actions.open(order);
			return order;
		},
		deposit,
		/** Returns an order from Solana to an EVM chain whose deposit has landed. */
		fromSolana: async (terms: Terms = {}) => deposit(on.fromSolana(await actions.makeOrder(terms))),
		withinSolana: async () =>
			deposit(on.toSolana(on.fromSolana(await actions.makeOrder()), { recipient: on.stranger.address })),
		/** Voids an order on the other EVM chain, and makes that final. */
		closeOrder: async (order: Order): Promise<void> => {
			await actions.voidOrder(order);
			await actions.finalize();
		},
		stop: async () => {
			await signer.stop();
			await Promise.all([chains.stop(), solana.stop()]);
		},
	};
}
