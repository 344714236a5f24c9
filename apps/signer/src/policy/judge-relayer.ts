import { authorizationSigner } from "@geoswap/keys/signature/authorization-signer";
import type { Bundle, Fill } from "@geoswap/protocol";
import { fromWord, geoAccountAbi, type Order, orderId, ourContracts, toWord } from "@geoswap/protocol";
import {
	type Address,
	decodeFunctionData,
	encodeFunctionData,
	type Hex,
	isAddressEqual,
	size,
	toFunctionSelector,
	zeroAddress,
} from "viem";
import { decodeOpening } from "./decode-opening.ts";
import { decodeRelayerCall } from "./decode-relayer-call.ts";
import { expectAttested } from "./expect-attested.ts";
import { expectOurOrder, type OrderRules } from "./expect-our-order.ts";
import type { Judgement, Payout } from "./judgement.ts";
import { outflowMeter } from "./meters.ts";
import { deliveryOf, payoutsOfFill } from "./payouts-of-fill.ts";
import { type Authorizations, readTransaction, type TransactionRules } from "./read-transaction.ts";
import { refuse } from "./refusal.ts";

/** The rules for a relayer's key, all from the signer's own files. */
export type RelayerRules = OrderRules & TransactionRules;

/**
 * Returns what a relayer's transaction does. Refuses all calls but those that the service's lanes make, to its
 * contracts, with no value and within the fees. Throws a `Refusal`.
 */
export function judgeRelayer(unsigned: Hex, rules: RelayerRules): Judgement {
	const { to, data, nonce, authorizationList, fee, charge } = readTransaction(unsigned, rules);
	const common = { nonce, charges: [charge] };
	if (data === "0x") {
		if (!isAddressEqual(to, rules.address))
			refuse("not-ours", `a cancel goes to ${to}, not to the relayer itself`);
		// A cancel may carry the authorizations of wallets that remove their delegations. These grant no rights.
		const delegating = authorizationList?.find(
			({ address }) => address && !isAddressEqual(address, zeroAddress),
		);
		if (delegating) refuse("malformed", "a cancel has an authorization that delegates a wallet");
		return { kind: "cancel", ...common, payouts: [], about: { nonce, fee } };
	}
	if (isRevocation(data)) {
		if (authorizationList) refuse("malformed", "a revocation has authorizations");
		// The wallet's own account checks the proof, and uses it for nothing else.
		return { kind: "cancel", ...common, payouts: [], about: { nonce, to, fee } };
	}
	const bundle = decodeRelayerCall({ to, data });
	if (authorizationList && bundle.kind !== "open") refuse("malformed", `a ${bundle.kind} has authorizations`);
	const payouts = judgeBundle(bundle, authorizationList, rules);
	return {
		kind: bundle.kind,
		...common,
		payouts,
		decisions: bundle.kind === "fill" ? bundle.fills.map(({ order }) => deliveryOf(order)) : [],
		about: { nonce, to, fee, ...describeBundle(bundle) },
	};
}

/** Returns true if the call has a wallet's account revoke its mandates, in the form that a lane writes. */
function isRevocation(data: Hex): boolean {
	if (!data.startsWith(revokeSelector)) return false;
	try {
		const { functionName, args } = decodeFunctionData({ abi: geoAccountAbi, data });
		if (functionName !== "revokeMandates" || size(args[0]) !== 66) return false;
		// Bytes that the decoder skips are not in its result.
		return encodeFunctionData({ abi: geoAccountAbi, functionName, args }) === data;
	} catch {
		return false;
	}
}

const revokeSelector = toFunctionSelector("revokeMandates(bytes)");

/** Returns the payouts of a call to the service's contracts. */
function judgeBundle(
	bundle: Bundle,
	authorizations: Authorizations | undefined,
	rules: RelayerRules,
): Payout[] {
	const { chainId } = rules.chain;
	const { escrows, vaults } = ourContracts(rules.chain);
	switch (bundle.kind) {
		case "open":
			expectContract("escrow", escrows, bundle.escrow);
			judgeOpens(bundle, authorizations, rules);
			return [];
		case "fill":
			expectContract("vault", vaults, bundle.vault);
			expectSome(bundle.fills);
			return bundle.fills.flatMap((fill) => judgeFill(fill, bundle.vault, rules));
		case "void":
			expectContract("vault", vaults, bundle.vault);
			expectSome(bundle.orders);
			for (const order of bundle.orders) expectDestination(order, { chainId, vault: bundle.vault });
			return [];
		case "release":
		case "refund":
			expectContract("escrow", escrows, bundle.escrow);
			expectSome(bundle.orders);
			for (const order of bundle.orders) expectOrigin(order, { chainId, escrow: bundle.escrow });
			expectAttested(bundle, rules);
			return [];
		case "late-refund":
			expectContract("escrow", escrows, bundle.escrow);
			expectOrigin(bundle.order, { chainId, escrow: bundle.escrow });
			return [];
	}
}

function judgeOpens(
	{ escrow, openings }: Extract<Bundle, { kind: "open" }>,
	authorizations: Authorizations | undefined,
	{ chain }: RelayerRules,
): void {
	const { chainId, contracts } = chain;
	expectSome(openings);
	const orders = openings.map((opening) => decodeOpening(opening, { chainId, escrow }));
	if (!authorizations) return;
	const [order] = orders;
	const [authorization] = authorizations;
	if (!order || !authorization || orders.length > 1 || authorizations.length > 1)
		refuse("malformed", "an authorization goes with one order, and one order with one authorization");
	const { r, s, yParity, nonce, chainId: forChain, address: delegate } = authorization;
	if (forChain !== chainId) refuse("not-ours", `an authorization is for chain ${forChain}`);
	if (![contracts.delegate, contracts.typedDelegate].some((ours) => isAddressEqual(ours, delegate)))
		refuse("not-ours", `an authorization delegates to ${delegate}`);
	const signer = authorizationSigner({ chainId, address: delegate, nonce, r, s, yParity: yParity ?? 2 });
	if (signer?.toLowerCase() !== fromWord(order.wallet).toLowerCase())
		refuse("bad-signature", "an authorization is not signed by the order's wallet");
}

function judgeFill(
	{ order, amount, minOutput, poolFee, secondPoolFee }: Fill,
	vault: Address,
	rules: RelayerRules,
): Payout[] {
	const { chain } = rules;
	expectDestination(order, { chainId: chain.chainId, vault });
	expectOurOrder(order, rules);
	const output = addressIn(order.outputToken);
	addressIn(order.recipient);
	if (poolFee === 0) {
		if (secondPoolFee !== 0 || minOutput !== 0n)
			refuse("malformed", "a fill from the inventory names a pool or a minimum");
		if (amount < order.minOutput) refuse("malformed", "a fill is below its order's minimum");
	} else {
		const fees = secondPoolFee === 0 ? [poolFee] : [poolFee, secondPoolFee];
		const paths = chain.assets.find(({ address }) => isAddressEqual(address, output))?.paths ?? [];
		if (!paths.some((path) => path.length === fees.length && path.every((fee, i) => fee === fees[i])))
			refuse("not-ours", `a fill trades through pools of fees ${fees.join(", ")}`);
	}
	if (amount === 0n) refuse("malformed", "a fill pays nothing");
	const token = poolFee === 0 ? output : chain.settlementToken;
	const metered = (address: Address) => ({
		meter: outflowMeter(chain.chainId, address),
		token: address,
	});
	return payoutsOfFill(order, { output: { ...metered(token), amount }, native: metered(zeroAddress) });
}

function addressIn(word: Hex): Address {
	try {
		return fromWord(word);
	} catch {
		return refuse("malformed", `${word} is not the word of an address`);
	}
}

function expectDestination(order: Order, { chainId, vault }: { chainId: number; vault: Address }): void {
	if (order.destinationChainId !== BigInt(chainId) || order.destinationVault.toLowerCase() !== toWord(vault))
		refuse("not-ours", "an order is not to be filled by the vault that is called");
}

function expectOrigin(order: Order, { chainId, escrow }: { chainId: number; escrow: Address }): void {
	if (order.originChainId !== BigInt(chainId) || order.escrow.toLowerCase() !== toWord(escrow))
		refuse("not-ours", "an order is not in the escrow that is called");
}

function expectContract(name: string, ours: readonly Address[], called: Address): void {
	if (!ours.some((one) => isAddressEqual(one, called))) refuse("not-ours", `${called} is not our ${name}`);
}

function expectSome(list: readonly unknown[]): void {
	if (list.length === 0) refuse("malformed", "the call is about no order");
}

function describeBundle(bundle: Bundle): Record<string, unknown> {
	switch (bundle.kind) {
		case "open":
			return { wallets: bundle.openings.map(({ wallet }) => wallet) };
		case "fill":
			return {
				fills: bundle.fills.map(({ order, amount }) => ({
					orderId: orderId(order),
					amount,
					token: order.outputToken,
					recipient: order.recipient,
				})),
			};
		case "late-refund":
			return { orderIds: [orderId(bundle.order)] };
		default:
			return { orderIds: bundle.orders.map(orderId) };
	}
}
