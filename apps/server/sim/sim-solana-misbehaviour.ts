import {
	expireOrder,
	fundOrder,
	type Order,
	openOrder,
	orderId,
	payOrder,
	prepareOrder,
	type SolanaAddress,
	solanaNativeToken,
	transferInstruction,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Instruction, KeyPairSigner } from "@solana/kit";
import type { WalletBehaviour } from "./plan.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimSwap } from "./sim-swap.ts";
import type { SimSolanaChain } from "./solana/create-sim-solana-chain.ts";
import { sendInstructions } from "./solana/send-instructions.ts";

/** Milliseconds after the submit within which a wallet misbehaves: before the lane acts, with it, or too late. */
const withinMs = 4_000;
/** Milliseconds between two attempts of a wallet to take its input back, from its order's `refundAfter` on. */
const takesBackEveryMs = 15_000;

/** The behaviours that differ from `plain` on Solana. */
export const solanaMisbehaviours: ReadonlySet<WalletBehaviour> = new Set([
	"moves-tokens",
	"opens-itself",
	"opens-unsubmitted",
]);

/** Creates acts of wallets on Solana that the service did not request. */
export function createSolanaMisbehaviour({
	scheduler,
	random,
	solana,
	tell,
}: {
	scheduler: Scheduler;
	random: SeededRandom;
	solana: SimSolanaChain;
	tell: (line: string) => void;
}): (swap: SimSwap, wallet: KeyPairSigner) => Promise<void> {
	const { program } = solana.deployment;

	/** Sends instructions whose fees and rents a sponsor pays, so that the wallet pays only its order's input. */
	async function send(instructionsOf: (sponsor: KeyPairSigner) => Promise<Instruction[]>): Promise<void> {
		const sponsor = await solana.newWallet();
		solana.give(solanaNativeToken, sponsor.address, 10n ** 9n);
		await sendInstructions(solana, { feePayer: sponsor, instructions: await instructionsOf(sponsor) });
	}

	async function act(swap: SimSwap, wallet: KeyPairSigner): Promise<void> {
		const order = swap.order as Order;
		const { decimals } = assetOf(swap.inputToken);
		switch (swap.plan.behaviour) {
			case "moves-tokens": {
				const sink = (await solana.newWallet()).address;
				swap.sink = sink;
				if (swap.inputToken !== solanaNativeToken) solana.give(swap.inputToken as SolanaAddress, sink, 0n);
				const transfer = { from: wallet, to: sink, token: order.inputToken, amount: swap.inputAmount };
				return send(async () => [await transferInstruction(solana.deployment, transfer)]);
			}
			case "opens-itself":
			case "opens-unsubmitted":
				return send(async (sponsor) => [
					await prepareOrder(program.address, order, sponsor),
					await fundOrder(program.address, order, { wallet, decimals }),
					await openOrder(program.address, order),
				]);
		}
	}

	/** Waits until any account may refund the order, and takes its input back. The order exists on the chain only. */
	async function takeBack({ index, order }: SimSwap): Promise<void> {
		if (!order) return;
		const { refundAfter } = unpackDeadlines(order.deadlines);
		await scheduler.sleep(
			Number(refundAfter) * 1_000 - scheduler.nowMs(),
			`#${index} may take its input back`,
		);
		for (;;) {
			const final = await solana.orderOf(orderId(order), "finalized");
			if (!final || final.isPaid) return;
			await send(async () => [
				...(final.state === "opened" ? [await expireOrder(program.address, orderId(order))] : []),
				await payOrder(program.address, order, { to: "wallet" }),
			]);
			await scheduler.sleep(takesBackEveryMs, `#${index} takes its input back`);
		}
	}

	function assetOf(token: string) {
		const asset = solana.deployment.assets.find(({ address }) => address === token);
		if (!asset) throw new Error(`Solana has no asset ${token}`);
		return asset;
	}

	return async (swap, wallet) => {
		const { index, plan } = swap;
		if (!solanaMisbehaviours.has(plan.behaviour)) return;
		try {
			await scheduler.sleep(random.between(0, withinMs), `#${index} ${plan.behaviour}`);
			await act(swap, wallet);
			if (plan.behaviour === "opens-unsubmitted") await takeBack(swap);
		} catch (error) {
			tell(`#${index} cannot misbehave: ${String(error).split("\n")[0]}`);
		}
	};
}
