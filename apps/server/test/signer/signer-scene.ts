import { solanaFeeds, startTestChains, startTestSolana, type TestChain } from "@geoswap/devnet";
import {
	attestationDigest,
	attestationMessage,
	type Bundle,
	type Deployment,
	encodeBundle,
	fromWord,
	type Order,
	orderId,
	orderToJson,
} from "@geoswap/protocol";
import { hexToBytes, serializeTransaction } from "viem";
import { sign } from "viem/accounts";
import { signEnding, signSweep, signVoid } from "../../src/chain/solana/program/sign-ending.ts";
import { signFill } from "../../src/chain/solana/program/sign-fill.ts";
import { readLanded } from "../../src/chain/solana/read/read-landed.ts";
import { readBlockhash } from "../../src/chain/solana/read/read-slots.ts";
import type { SignedTransaction } from "../../src/chain/solana/send/sign-instructions.ts";
import { decodeWireTransaction } from "../../src/chain/solana/wallet/check-signed-transaction.ts";
import { orderActions } from "../order/order-actions.ts";
import { programActions } from "../solana/program-actions.ts";
import { solanaActions } from "../solana/solana-actions.ts";
import { noCap, startTestSigner, type TestSigner } from "./start-test-signer.ts";

/** The finality of each chain in the signer's file. */
export const finalitySeconds = 20;
/** With slots this long, only the actions of the test let slots of Solana pass. */
const slowSlotMs = 3_600_000;
/** The amount that each fill pays. */
const amount = 10_000_000n;

export type SignerScene = Awaited<ReturnType<typeof createSignerScene>>;

/**
 * Creates two EVM chains, Solana, and a remote signer with all keys and its own nodes, which pays nothing that it
 * cannot prove. The actions request signatures from it and send nothing.
 */
export async function createSignerScene({
	rpcUrlOf = ({ rpcUrl }) => rpcUrl,
}: {
	/** The address of the signer's node of a chain. */
	rpcUrlOf?: (chain: TestChain) => string;
} = {}) {
	const chains = await startTestChains();
	const feeds = solanaFeeds(chains.origin.deployment);
	const solana = await startTestSolana({ slotMs: slowSlotMs, feeds });
	const actions = orderActions(chains);
	const on = await solanaActions(solana);
	const programs = await programActions(solana, on);
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
		return startTestSigner({
			deployment,
			nowMs: () => Date.now() + clock.aheadMs,
			secrets: {
				RELAYER: hexToBytes(keys.relayers[0] ?? "0x"),
				ATTESTER: hexToBytes(keys.attesters[0] ?? "0x"),
				FEE_PAYER: (solana.keys.feePayers[0] ?? new Uint8Array()).slice(0, 32),
				OPERATOR: solana.keys.operator.slice(0, 32),
			},
			config: {
				chains: Object.fromEntries([origin, destination].map(chainOf)),
				solana: { rpcUrl: solana.rpcUrl, outflow: capsOf(solana.deployment.assets), finalitySeconds },
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
					operator: { use: "solana-operator", reference: "env:OPERATOR", ...common },
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
		// Another fee each time, so that no payload equals an earlier one.
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

	/** Returns the parts of a lane's transaction. A new blockhash makes another message of the same transaction. */
	async function parts() {
		await solana.admin.warp({ slots: 1 });
		const { blockhash } = await readBlockhash(on.chain);
		const { deployment } = solana;
		const { operator } = programs;
		return { deployment, operator, feePayer: on.feePayer, blockhash, computePrice: 1_000n };
	}
	const make = {
		fill: async (order: Order) => signFill({ ...(await parts()), order, amount, createsAccount: false }),
		void: async (order: Order) => signVoid({ ...(await parts()), order }),
		refund: async (order: Order, by: "operator" | "time") =>
			signEnding({ ...(await parts()), order, to: "wallet", decision: { by } }),
		closeRecord: async (order: Order) =>
			signSweep({ ...(await parts()), accounts: [{ orderId: orderId(order) }] }),
	};

	/** Has the signer co-sign the opening of an order, lands it, and makes that final. */
	async function open(order: Order): Promise<Order> {
		const signed = await on.signDeposit(order);
		const answer = await askSolana("fee-payer", signed);
		if (answer !== "signed") throw new Error(`the opening is refused: ${answer}`);
		await on.land(signed);
		await on.finalize();
		return order;
	}

	type Terms = Parameters<typeof actions.makeOrder>[0];
	return {
		chains,
		solana,
		actions,
		on,
		programs,
		clock,
		amount,
		signer: () => signer,
		ask,
		askSolana,
		/** Replaces the signer by one that has the same keys and no state. */
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
		parts,
		/** Refunds the input of an order on Solana, with signatures of the devnet's attesters. */
		refundByAttesters: async (order: Order): Promise<void> => {
			const { attesterSet: set } = programs.deployment;
			const hash = attestationDigest(attestationMessage("Refund", [order]));
			const signatures = await Promise.all(
				keys.attesters.slice(0, set.threshold).map((privateKey) => sign({ hash, privateKey, to: "hex" })),
			);
			const decision = { by: "attesters", set, signatures } as const;
			await on.land(await signEnding({ ...(await parts()), order, to: "wallet", decision }));
		},
		/** Lane transactions on Solana, signed with the keys themselves and not sent. */
		make,
		fillSolana: async (order: Order) => askSolana("operator", await make.fill(order)),
		voidSolana: async (order: Order) => askSolana("operator", await make.void(order)),
		refundSolana: async (order: Order) => askSolana("operator", await make.refund(order, "operator"), order),
		lateRefundSolana: async (order: Order) => askSolana("fee-payer", await make.refund(order, "time"), order),
		closeRecord: async (order: Order) => askSolana("fee-payer", await make.closeRecord(order)),
		/** Lands a transaction on Solana, and returns whether it failed. */
		landed: async (signed: SignedTransaction): Promise<"landed" | "failed"> => {
			const landed = await readLanded(on.chain, await on.land(signed));
			return landed?.isFailed === false ? "landed" : "failed";
		},

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
		/** Returns an order from Solana to an EVM chain whose opening is final. */
		fromSolana: async (terms: Terms = {}) =>
			open(programs.fromProgram(on.fromSolana(await actions.makeOrder(terms)))),
		withinSolana: async () =>
			open(programs.fromProgram(on.toSolana(on.fromSolana(await actions.makeOrder())))),
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
