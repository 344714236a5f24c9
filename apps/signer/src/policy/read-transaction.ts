import type { ChainDeployment } from "@geoswap/protocol";
import {
	type Address,
	type Hex,
	parseTransaction,
	serializeTransaction,
	type TransactionSerializable,
	type TransactionSerializableEIP1559,
	type TransactionSerializableEIP7702,
} from "viem";
import type { Charge } from "./judgement.ts";
import { feeMeter } from "./meters.ts";
import { refuse } from "./refusal.ts";

/** The rules for all transactions of a key, all from the signer's own files. */
export type TransactionRules = {
	/** The name of the key, for its meters. */
	key: string;
	address: Address;
	chain: ChainDeployment;
	maxGas: bigint;
	maxFeePerGasWei: bigint;
	maxTransactionFeeWei: bigint;
};

export type Authorizations = NonNullable<TransactionSerializableEIP7702["authorizationList"]>;

/** A call that a key of the service sends, with no value and within the fees. */
type SentCall = {
	to: Address;
	data: Hex;
	nonce: number;
	type: "eip1559" | "eip7702";
	authorizationList: Authorizations | undefined;
	/** The maximum cost, besides what a rollup takes for the transaction's data on another chain. */
	fee: bigint;
	/** The fee, as it counts against the key's cap. */
	charge: Charge;
};

/** Returns the call that a transaction makes. Refuses what no lane makes on the key's chain, and too high fees. */
export function readTransaction(unsigned: Hex, rules: TransactionRules): SentCall {
	const transaction = parse(unsigned);
	const { type, to, data = "0x", nonce = 0, authorizationList } = transaction;
	if (transaction.chainId !== rules.chain.chainId)
		refuse("not-ours", `the transaction is for chain ${transaction.chainId}`);
	if (!to) refuse("malformed", "the transaction creates a contract");
	if ((transaction.value ?? 0n) !== 0n) refuse("malformed", "the transaction carries value");
	const fee = expectAffordable(transaction, rules);
	const charge = { meter: feeMeter(rules.key), item: String(nonce), amount: fee };
	return { to, data, nonce, type, authorizationList, fee, charge };
}

type LaneTransaction = (TransactionSerializableEIP1559 | TransactionSerializableEIP7702) & {
	type: SentCall["type"];
};

function parse(unsigned: Hex): LaneTransaction & { authorizationList?: Authorizations } {
	let parsed: TransactionSerializable;
	try {
		parsed = parseTransaction(unsigned as `0x02${string}`) as TransactionSerializable;
		// Numbers with leading zeros, or fields in another form, would be signed differently from what was checked.
		if (serializeTransaction(parsed) !== unsigned.toLowerCase())
			throw new Error("its encoding is not the usual one");
	} catch (error) {
		return refuse("malformed", `the transaction cannot be read: ${(error as Error).message.split("\n")[0]}`);
	}
	if (parsed.type !== "eip1559" && parsed.type !== "eip7702")
		return refuse("malformed", `no lane makes transactions of the type ${parsed.type}`);
	if ("r" in parsed && parsed.r !== undefined) refuse("malformed", "the transaction is signed already");
	if ((parsed.accessList ?? []).length > 0) refuse("malformed", "the transaction has an access list");
	return parsed as LaneTransaction;
}

function expectAffordable(
	{ gas = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n }: LaneTransaction,
	{ maxGas, maxFeePerGasWei, maxTransactionFeeWei }: TransactionRules,
): bigint {
	if (gas > maxGas) refuse("too-dear", `${gas} is more gas than a transaction may have: maxGas is ${maxGas}`);
	if (maxFeePerGas > maxFeePerGasWei)
		refuse("too-dear", `${maxFeePerGas} wei per gas are more than maxFeePerGasWei, ${maxFeePerGasWei}`);
	if (maxPriorityFeePerGas > maxFeePerGas) refuse("malformed", "the tip is higher than the whole fee");
	const fee = gas * maxFeePerGas;
	if (fee > maxTransactionFeeWei)
		refuse(
			"too-dear",
			`the transaction can cost ${fee} wei: maxTransactionFeeWei is ${maxTransactionFeeWei}`,
		);
	return fee;
}
