import { type Address, type Hex, isAddressEqual, zeroAddress } from "viem";
import { decodeTreasurerCall, type TreasurerCall } from "./decode-treasurer-call.ts";
import type { Judgement } from "./judgement.ts";
import { moveMeter } from "./meters.ts";
import { readTransaction, type TransactionRules } from "./read-transaction.ts";
import { refuse } from "./refusal.ts";

/** The rules for a treasurer's key, all from the signer's own files. */
export type TreasurerRules = TransactionRules & {
	/** The accounts that the vault's native token may be sent to. */
	gasAccounts: readonly Address[];
};

/**
 * Returns what a treasurer's transaction does. Refuses all calls but those of a treasurer's lane: moves of the current
 * vault's inventory, mints by Circle's contract, and cancels, with no value and within the fees. Throws a `Refusal`.
 */
export function judgeTreasurer(unsigned: Hex, rules: TreasurerRules): Judgement {
	const { to, data, nonce, type, fee, charge } = readTransaction(unsigned, rules);
	const { key, chain } = rules;
	if (type !== "eip1559") refuse("malformed", "a treasurer's transaction has authorizations");
	const common = { nonce, payouts: [] };
	if (data === "0x") {
		if (!isAddressEqual(to, rules.address))
			refuse("not-ours", `a cancel goes to ${to}, not to the treasurer itself`);
		return { kind: "cancel", ...common, charges: [charge], about: { nonce, fee } };
	}
	const call = decodeTreasurerCall(data);
	const { kind } = call;
	const about = { nonce, to, fee, ...call };
	if (kind === "mint") {
		if (!chain.cctp || !isAddressEqual(to, chain.cctp.messageTransmitter))
			refuse("not-ours", `${to} is not Circle's contract that mints`);
		return { kind, ...common, charges: [charge], about };
	}
	const { vault } = chain.contracts;
	if (!isAddressEqual(to, vault)) refuse("not-ours", `${to} is not our vault`);
	if (call.amount === 0n) refuse("malformed", `a ${kind} moves nothing`);
	expectOurs(call, rules);
	const moved = {
		meter: moveMeter(key, call.token),
		// A second transaction with the same id replaces this one, or reverts.
		item: `${vault.toLowerCase()}/${call.moveId}`,
		amount: call.amount,
	};
	return { kind, ...common, charges: [charge, moved], about };
}

function expectOurs(call: Exclude<TreasurerCall, { kind: "mint" }>, rules: TreasurerRules): void {
	const { settlementToken, cctp } = rules.chain;
	switch (call.kind) {
		case "trade":
			expectTrade(call, rules);
			return;
		case "send":
			if (call.token !== zeroAddress) refuse("not-ours", `a send moves ${call.token}, not the native token`);
			if (!isAmong(rules.gasAccounts, call.to))
				refuse("not-ours", `a send goes to ${call.to}, which gasAccounts does not list`);
			return;
		case "bridge":
			if (!isAddressEqual(call.token, settlementToken))
				refuse("not-ours", `a bridge moves ${call.token}, not the settlement token`);
			if (!isAmong(Object.values(cctp?.routes ?? {}), call.route))
				refuse("not-ours", `a bridge goes to ${call.route}, which is not our route`);
			if (call.maxFee > call.amount) refuse("malformed", "a bridge offers a fee above its amount");
	}
}

/** Refuses a trade but one between the settlement token and another asset, through pools of that asset's paths. */
function expectTrade(
	{ token, toToken, minOut, poolFee, secondPoolFee }: Extract<TreasurerCall, { kind: "trade" }>,
	{ chain: { settlementToken, assets } }: TreasurerRules,
): void {
	const isPurchase = isAddressEqual(token, settlementToken);
	if (isPurchase === isAddressEqual(toToken, settlementToken))
		refuse("not-ours", "a trade has the settlement token on neither or both of its sides");
	const other = isPurchase ? toToken : token;
	const asset =
		assets.find(({ address }) => isAddressEqual(address, other)) ??
		refuse("not-ours", `a trade is of ${other}, which is not among the assets`);
	if (minOut === 0n) refuse("malformed", "a trade has no minimum");
	const fees = secondPoolFee === 0 ? [poolFee] : [poolFee, secondPoolFee];
	// Paths are listed as the settlement token buys along them.
	const paths = asset.paths.map((path) => (isPurchase ? path : path.toReversed()));
	if (!paths.some((path) => path.join() === fees.join()))
		refuse("not-ours", `a trade goes through pools of fees ${fees.join(", ")}`);
}

function isAmong(list: readonly Address[], address: Address): boolean {
	return list.some((one) => isAddressEqual(one, address));
}
