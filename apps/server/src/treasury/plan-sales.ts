import { greater, rescaleDown, type UsdE18 } from "@geoswap/protocol";
import type { TreasuryPolicy } from "../config/treasury-policy.ts";
import { interpolateBest } from "../desk/price/interpolate.ts";
import { amountWorthDown, usdValueDown } from "../desk/price/usd-value.ts";
import { formatUsd } from "../desk/sealed-quote.ts";
import type { MoveKey } from "./move-id.ts";
import {
	type AssetDraft,
	type ChainDraft,
	isWorth,
	largestPiece,
	maxMoveE18,
	minOutOf,
	type PlanDraft,
	smallest,
} from "./plan-draft.ts";
import { describeAmount } from "./planned-move.ts";
import type { AssetState } from "./treasury-state.ts";

const hoursPerYear = 8_766;
const billion = 1_000_000_000n;

/** Plans the sale of each token that a chain holds more of than its band allows, if the risk of holding it is worth that. */
export function planSales(draft: PlanDraft): void {
	for (const one of draft.chains) {
		if (one.chain.status !== "open") continue;
		for (const held of one.assets) if (!held.isWanted) sell(draft, { one, held });
	}
}

function sell(draft: PlanDraft, { one, held }: { one: ChainDraft; held: AssetDraft }): void {
	const { policy, list, reasons } = draft;
	const { chain } = one;
	const { asset } = held;
	const excess = held.free - asset.maxHeld;
	const key: MoveKey = {
		kind: "trade",
		chainId: chain.chainId,
		token: asset.token,
		toChainId: chain.chainId,
		address: chain.vault,
	};
	if (excess <= 0n || list.isOpen(key)) return;
	const amount = smallest(
		excess,
		asset.tradeCapLeft,
		largestPiece(asset.sell, policy),
		amountWorthDown(maxMoveE18(draft), asset),
	);
	const priced = interpolateBest(asset.sell, amount);
	const above = `${chain.name} holds ${describeAmount(excess, asset)} more than it keeps`;
	if (!priced || priced.output === 0n) {
		reasons.push(`${above}, but none of it can be sold within the trade cap and the price impact.`);
		return;
	}
	const { settlement } = chain;
	const valueE18 = usdValueDown(amount, asset);
	const lossE18 = greater(0n, valueE18 - rescaleDown(priced.output, settlement.decimals, 18));
	const costE18 = chain.tradeGasE18 + lossE18;
	const riskE18 = deviationE18(valueE18, asset, policy);
	const sale = `${describeAmount(amount, asset)} can move by ${formatUsd(riskE18)} USD in ${policy.horizonHours} h, and its sale costs ${formatUsd(costE18)} USD`;
	if (!isWorth(riskE18, costE18, policy)) {
		reasons.push(`${above}: ${sale}, so it waits.`);
		return;
	}
	held.free -= amount;
	list.add({
		...key,
		amount,
		toToken: settlement.token,
		costE18,
		reason: `${above}: ${sale}.`,
		// A ladder has its pools in the order of a purchase, which begins at the settlement token.
		trade: { minOut: minOutOf(priced.output, policy), poolFees: priced.fees.toReversed() },
	});
}

/** Returns the standard deviation of a value over the horizon. */
function deviationE18(
	valueE18: UsdE18,
	{ volatilityPercentPerYear }: AssetState,
	{ horizonHours }: TreasuryPolicy,
): UsdE18 {
	const share = (volatilityPercentPerYear / 100) * Math.sqrt(horizonHours / hoursPerYear);
	return (valueE18 * BigInt(Math.floor(share * Number(billion)))) / billion;
}
