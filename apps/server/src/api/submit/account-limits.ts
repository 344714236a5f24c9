import { type Milliseconds, SwapError, type UsdCents, usdCents, type Wei } from "@geoswap/protocol";
import type { DatabasePool } from "../../database/database.ts";
import type { Desk } from "../../desk/desk.ts";
import { readUnsettledGas } from "../../money/unsettled-gas.ts";
import { unfinalUpToUsdCents } from "../../swap/decide/deposit-policy.ts";
import { exposureCaps, type PolicyConfig, type SwapPolicy } from "../../swap/decide/swap-policy.ts";
import type { AccountRefusals } from "../../swap/record/record-refusal.ts";
import type { Standing } from "./read-standing.ts";

export type AccountLimits = {
	/**
	 * Throws if the account's last submit was over its gas budget and the account still is. This saves calls to chains.
	 */
	expectWithinBudget(accountId: string): Promise<void>;
	/** Throws if the account's other swaps leave no room for one more. */
	check(
		submission: {
			accountId: string;
			isOpened: boolean;
			refusals: AccountRefusals;
			/** Set if a swap puts value at risk between two chains. */
			risk: { policy: SwapPolicy; valueUsdCents: UsdCents } | undefined;
			/** The account's limit of value in 24 hours, and what this swap leaves of it for others, if it is limited. */
			daily: { maxUsd: number; roomUsdCents: UsdCents } | undefined;
		},
		standing: Standing,
	): void;
};

/** Creates the checks of how much one account may have in flight and spend on swaps that do not settle. */
export function createAccountLimits({
	pool,
	desk,
	limits,
	nowMs,
}: {
	pool: DatabasePool;
	desk: Pick<Desk, "gasUsdCents" | "gasWei">;
	limits: PolicyConfig["limits"];
	nowMs: () => Milliseconds;
}): AccountLimits {
	/** Accounts whose last submit was refused because of the gas budget. */
	const overBudget = new Set<string>();
	return {
		async expectWithinBudget(accountId) {
			if (!overBudget.has(accountId)) return;
			checkGasBudget(accountId, await readUnsettledGas(pool, { accountId, nowMs: nowMs() }));
		},
		check({ accountId, isOpened, refusals, risk, daily }, { gas, atRisk, unopened, fullSince }) {
			checkGasBudget(accountId, gas);
			checkRefusals(refusals, { isOpened });
			if (daily) checkDailyValue(daily, fullSince);
			if (isOpened) return;
			checkUnopened(unopened);
			if (risk) checkShareOfCaps(atRisk, risk);
		},
	};

	/** Throws if the account's unsettled swaps have used up the day's budget, or may yet do so. */
	function checkGasBudget(accountId: string, { ended, undecided }: Standing["gas"]): void {
		const costOf = (spent: { chainId: number; wei: Wei }[]) =>
			spent.reduce((sum, gas) => sum + desk.gasUsdCents(gas), 0n);
		const inFlight = undecided.inFlight.map(({ chainId, gas }) => ({
			chainId,
			wei: desk.gasWei({ chainId, gas }),
		}));
		const budget = usdCents(limits.unsettledGasUsdPerDay);
		const endedUsdCents = costOf(ended.spent);
		overBudget.delete(accountId);
		if (endedUsdCents + costOf(undecided.spent) + costOf(inFlight) < budget) return;
		overBudget.add(accountId);
		const { retryAfterSeconds } = endedUsdCents < budget ? undecided : ended;
		throw new SwapError(
			"RATE_LIMITED",
			{ reason: "gas_budget", retryAfterSeconds },
			{
				message:
					"Swaps of this account that did not settle have used up its daily gas budget, or may use it up. Send the request again later. An order that is already open and is not submitted in time is refunded after its deadline.",
			},
		);
	}

	/** Throws if the account's swaps of the last 24 hours and this one are worth more than its limit. */
	function checkDailyValue(
		{ maxUsd, roomUsdCents }: { maxUsd: number; roomUsdCents: UsdCents },
		fullSince: Date | undefined,
	): void {
		const isTooLarge = roomUsdCents < 0n;
		if (!isTooLarge && !fullSince) return;
		const roomAtMs = (isTooLarge || !fullSince ? nowMs() : fullSince.getTime()) + dayMs;
		const limit = `the limit of this account, ${maxUsd} USD in 24 hours`;
		const openOrder =
			"An order that is already open and is not submitted in time is refunded after its deadline.";
		throw new SwapError(
			"RATE_LIMITED",
			{
				reason: "daily_value",
				retryAfterSeconds: Math.max(1, Math.ceil((roomAtMs - nowMs()) / 1_000)),
			},
			{
				message: isTooLarge
					? `This swap alone is worth more than ${limit}. Request a quote for a smaller amount, or ask the operator for a higher limit. ${openOrder}`
					: `With this swap, the swaps of the last 24 hours would be worth more than ${limit}. Send the request again later, or ask the operator for a higher limit. ${openOrder}`,
			},
		);
	}

	function checkUnopened({ ofWallet, ofAccount }: Standing["unopened"]): void {
		const { perWallet, perAccount } = limits.unopenedSwaps;
		const whose = ofWallet >= perWallet ? "wallet" : ofAccount >= perAccount ? "account" : undefined;
		if (!whose) return;
		const max = whose === "wallet" ? perWallet : perAccount;
		throw new SwapError(
			"RATE_LIMITED",
			{ reason: "unopened_swaps", retryAfterSeconds: openedSeconds },
			{
				message: `This ${whose} has ${max} swaps whose orders are not open yet, which is the maximum. Send the request again once one of them is open.`,
			},
		);
	}

	/** Throws if the swap would wait for other swaps of its account, although the chain's caps may have room. */
	function checkShareOfCaps(
		{ unreleasedUsdCents, unfinalUsdCents }: Standing["atRisk"],
		{ policy, valueUsdCents }: { policy: SwapPolicy; valueUsdCents: UsdCents },
	): void {
		if (limits.accountShareOfCaps === 1) return;
		const { ofAccount } = exposureCaps(policy);
		const { origin, destination } = policy;
		// The same exceptions as when the value is put at risk: an account's only swap, and a deposit that must become
		// final.
		const isUnreleasedFull =
			unreleasedUsdCents > 0n && unreleasedUsdCents + valueUsdCents > ofAccount.unreleasedUsdCents;
		const isUnfinalFull =
			valueUsdCents <= unfinalUpToUsdCents(origin) &&
			valueUsdCents <= ofAccount.unfinalUsdCents &&
			unfinalUsdCents + valueUsdCents > ofAccount.unfinalUsdCents;
		if (!isUnreleasedFull && !isUnfinalFull) return;
		const until = isUnreleasedFull
			? "the inputs of some of them are released, after their deliveries are final"
			: "the deposits of some of them are final";
		throw new SwapError(
			"RATE_LIMITED",
			{
				reason: "cap_share",
				retryAfterSeconds: Math.max(1, (isUnreleasedFull ? destination : origin).finalitySeconds),
			},
			{
				message: `Swaps of this account use up its share of the value that may be in flight from this chain. Nothing was executed. Send the request again once ${until}.`,
			},
		);
	}

	function checkRefusals(
		{ count, retryAfterSeconds }: AccountRefusals,
		{ isOpened }: { isOpened: boolean },
	): void {
		if (count < limits.refusedRecipientsPerDay) return;
		throw new SwapError(
			"RATE_LIMITED",
			{ reason: "recipients_refused", retryAfterSeconds },
			{ message: isOpened ? openedAfterRefusals : tooManyRefusals },
		);
	}
}

const dayMs = 86_400_000;

/** The approximate time until an order is open. */
const openedSeconds = 15;

const tooManyRefusals =
	"Too many swaps of this account were refunded in the last day because their recipients could not be paid. Send the request again later, for a recipient that accepts the output token.";
const openedAfterRefusals =
	"The order is open on its chain, but too many swaps of this account were refunded in the last day because their recipients could not be paid. Send the request again later. An order that is not submitted in time is refunded after its deadline.";
