import { isSignedBy } from "@geoswap/keys/signature/is-signed-by";
import {
	fromWord,
	greater,
	type Mandate,
	type MandateProblem,
	type Milliseconds,
	mandateDigest,
	mandateProblem,
	mandateUseSlot,
	type Order,
	type SignedMandate,
	SwapError,
} from "@geoswap/protocol";
import { type Address, type Hex, isAddressEqual } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import type { TransactionShape } from "../../chain/evm/fee/fee-model.ts";
import { readMandateUse } from "../../chain/evm/wallet/read-wallet.ts";
import type { OpenSimulation } from "../../chain/evm/wallet/simulate-open.ts";
import type { SealedMandate } from "../../desk/sealed-quote.ts";
import type { WalletUnopened } from "./wallet-unopened.ts";

const problems = {
	wallet: () => new SwapError("INVALID_MANDATE", { reason: "wallet" }),
	escrow: () => new SwapError("INVALID_MANDATE", { reason: "escrow" }),
	form: () => new SwapError("INVALID_MANDATE", { reason: "form" }),
	desk: () => new SwapError("INVALID_MANDATE", { reason: "desk" }),
	expiry: () => new SwapError("MANDATE_ENDED", { reason: "expired" }),
	input: () => new SwapError("OUTSIDE_MANDATE", { reason: "input" }),
	output: () => new SwapError("OUTSIDE_MANDATE", { reason: "output" }),
	recipient: () => new SwapError("OUTSIDE_MANDATE", { reason: "recipient" }),
	amount: (maximumAmount) =>
		new SwapError("OUTSIDE_MANDATE", {
			reason: "amount",
			...(maximumAmount !== undefined && { maximumAmount: String(maximumAmount) }),
		}),
} satisfies Record<MandateProblem, (maximumAmount?: bigint) => SwapError>;

/**
 * Returns the digest of a mandate that its owner signed and whose terms allow the order. Throws otherwise. Whether it
 * was revoked, and how much of its cap is used, is checked by `checkMandateUse` and by the simulation of the order
 * with its proof.
 */
export function checkMandate(signed: SignedMandate, order: Order): Hex {
	const { mandate, signature } = signed;
	const problem = mandateProblem(signed, order);
	if (problem) {
		throw problems[problem](problem === "amount" ? capOn(mandate, fromWord(order.inputToken)) : undefined);
	}
	const digest = mandateDigest(signed);
	if (!isSignedBy(mandate.wallet, { hash: digest, signature })) {
		throw new SwapError("INVALID_MANDATE", { reason: "signature" });
	}
	return digest;
}

/** Returns what a quote token keeps of a mandate that allows the order. */
export function sealedMandate(
	{ mandate }: SignedMandate,
	{ order, digest, shape }: { order: Order; digest: Hex; shape: TransactionShape },
): SealedMandate {
	const token = fromWord(order.inputToken);
	const { epoch, period } = mandate;
	const maxAmount = capOn(mandate, token) ?? 0n;
	return { ...shape, digest, epoch, period, maxAmount, useSlot: mandateUseSlot(mandate, token) };
}

/**
 * Throws if the mandate was revoked, or if its cap, less the orders within it that are not known to be open yet,
 * leaves too little for this order. A caller who gets this error before signing need not wait until the order is
 * dead.
 */
export async function checkMandateUse(
	chain: EvmChain,
	{ digest, ...mandate }: SealedMandate,
	{ order, unopened, nowMs }: { order: Order; unopened: readonly WalletUnopened[]; nowMs: Milliseconds },
): Promise<void> {
	const use = await readMandateUse(chain, { ...mandate, wallet: fromWord(order.wallet), nowMs });
	if (use.epoch !== mandate.epoch) throw new SwapError("MANDATE_ENDED", { reason: "revoked" });
	const within = unopened.filter((other) => other.mandate === digest);
	const available = within.reduce((left, { amount }) => left - amount, use.available);
	if (available >= order.inputAmount) return;
	throw exceeded({ available: greater(available, 0n), required: order.inputAmount });
}

function exceeded({ available, required }: { available: bigint; required: bigint }): SwapError {
	return new SwapError("MANDATE_EXCEEDED", { available: String(available), required: String(required) });
}

function capOn({ inputs }: Mandate, token: Address): bigint | undefined {
	return inputs.find((cap) => isAddressEqual(cap.token, token))?.maxAmount;
}

/** Returns the error for a simulation that failed, with the account's reason if it is about the mandate. */
export function simulationError({ reason, args }: OpenSimulation & { opens: false }): SwapError {
	switch (reason) {
		case "MandateExpired":
			return new SwapError("MANDATE_ENDED", { reason: "expired" });
		// Everything else that the account calls outside was compared with the order earlier.
		case "OutsideMandate":
			return new SwapError("MANDATE_ENDED", { reason: "revoked" });
		case "MandateExceeded": {
			const [required = 0n, available = 0n] = (args ?? []) as bigint[];
			return exceeded({ available, required });
		}
		default:
			return new SwapError("SIMULATION_FAILED", { reason });
	}
}
