import { type Amount, greater, rescaleDown, rescaleUp } from "@geoswap/protocol";
import { interpolateBest } from "../desk/price/interpolate.ts";
import { amountWorthDown, usdValueUp } from "../desk/price/usd-value.ts";
import { formatUsd } from "../desk/sealed-quote.ts";
import type { MoveKey } from "./move-id.ts";
import {
	type AssetDraft,
	type ChainDraft,
	largestPiece,
	maxMoveE18,
	minOutOf,
	type PlanDraft,
	settlementE18,
	smallest,
} from "./plan-draft.ts";
import { describeAmount } from "./planned-move.ts";
import type { RelayerState } from "./treasury-state.ts";

/** What is paid above the reference price for native tokens, at most, so that one trade is usually enough. */
const surchargePercent = 101n;

/** Plans gas for each relayer whose balance does not last, and the native tokens that this takes. */
export function planRefills(draft: PlanDraft): void {
	for (const one of draft.chains) {
		const native = one.assets.find(({ asset }) => asset.isNative);
		if (one.chain.status !== "open" || !native) continue;
		for (const relayer of one.chain.relayers) refill(draft, { one, native, relayer });
	}
}

function refill(
	draft: PlanDraft,
	{ one, native, relayer }: { one: ChainDraft; native: AssetDraft; relayer: RelayerState },
): void {
	const { policy, list, reasons } = draft;
	const { chain } = one;
	const { asset } = native;
	const { address, balance, spentPerHour, sendCapLeft } = relayer;
	if (balance >= spentPerHour * BigInt(policy.minRelayerHours)) return;
	const wanted = smallest(
		spentPerHour * BigInt(policy.refillRelayerHours) - balance,
		sendCapLeft,
		amountWorthDown(maxMoveE18(draft), asset),
	);
	const has = `The relayer ${address} on ${chain.name} has ${describeAmount(balance, asset)} and spends ${describeAmount(spentPerHour, asset)} an hour`;
	if (wanted === 0n) {
		reasons.push(`${has}, but the cap on sends to it is used up.`);
		return;
	}
	native.isWanted = true;
	const isUrgent = balance < spentPerHour;
	if (native.free < wanted) buyNative(draft, { one, native, missing: wanted - native.free, has });
	const amount = smallest(wanted, native.free);
	const key: MoveKey = {
		kind: "send",
		chainId: chain.chainId,
		token: asset.token,
		toChainId: chain.chainId,
		address,
	};
	if (amount === 0n || (amount < wanted && !isUrgent) || list.isOpen(key)) return;
	native.free -= amount;
	list.add({
		...key,
		amount,
		toToken: asset.token,
		costE18: chain.sendGasE18,
		reason: `${has}, so ${describeAmount(amount, asset)} of gas is sent to it.`,
	});
}

function buyNative(
	draft: PlanDraft,
	{ one, native, missing, has }: { one: ChainDraft; native: AssetDraft; missing: Amount; has: string },
): void {
	const { policy, list, reasons } = draft;
	const { chain } = one;
	const { settlement } = chain;
	const key: MoveKey = {
		kind: "trade",
		chainId: chain.chainId,
		token: settlement.token,
		toChainId: chain.chainId,
		address: chain.vault,
	};
	if (list.isOpen(key)) return;
	const missingE18 = usdValueUp(missing, native.asset);
	const amount = smallest(
		rescaleUp((missingE18 * surchargePercent) / 100n, 18, settlement.decimals),
		one.tradeCapLeft,
		one.free,
		rescaleDown(maxMoveE18(draft), 18, settlement.decimals),
		largestPiece(native.asset.buy, policy),
	);
	const priced = interpolateBest(native.asset.buy, amount);
	if (!priced || priced.output === 0n) {
		reasons.push(`${has}, but ${chain.name} can buy no ${native.asset.symbol} now.`);
		return;
	}
	one.free -= amount;
	one.tradeCapLeft -= amount;
	const lossE18 = greater(0n, settlementE18(amount, chain) - usdValueUp(priced.output, native.asset));
	const costE18 = chain.tradeGasE18 + lossE18;
	list.add({
		...key,
		amount,
		toToken: native.asset.token,
		costE18,
		reason: `${has}, so ${describeAmount(amount, settlement)} buys ${describeAmount(priced.output, native.asset)} for it, at a cost of ${formatUsd(costE18)} USD.`,
		trade: { minOut: minOutOf(priced.output, policy), poolFees: priced.fees },
	});
}
