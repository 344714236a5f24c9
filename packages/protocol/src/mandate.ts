import {
	type Address,
	concat,
	decodeAbiParameters,
	encodeAbiParameters,
	type Hex,
	keccak256,
	numberToHex,
	type TypedDataDefinition,
	toHex,
} from "viem";
import { unpackDeadlines } from "./deadlines.ts";
import { domainHash, escrowDomain, type Order } from "./order.ts";
import { solanaChainId } from "./solana-chain-id.ts";
import { toWord } from "./word.ts";

/**
 * The limits within which an agent's key may swap from a wallet on one chain. Names and sequence are those of the
 * contracts.
 */
export type Mandate = {
	wallet: Address;
	agent: Address;
	/** The wallet's epoch on this chain. Revoking all mandates raises it. */
	epoch: bigint;
	/** The first second in which the mandate is no longer valid. */
	expiry: bigint;
	/** The seconds in which a fully used cap becomes free again. */
	period: number;
	/** The origin vault that orders must name. */
	originVault: Address;
	attesterSet: Hex;
	/** The tokens that may be spent. Up to `maxAmount` of each may be spent immediately, and again in each period. */
	inputs: readonly { token: Address; maxAmount: bigint }[];
	/** The tokens that may be bought. An empty list allows all. */
	outputs: readonly { chainId: bigint; token: Hex }[];
	/** The addresses that may receive the output beside the wallet itself. */
	recipients: readonly Hex[];
};

/** A mandate with the escrow that it is for and its owner's signature. */
export type SignedMandate = { chainId: number; escrow: Address; mandate: Mandate; signature: Hex };

/** The storage slot of the wallet's epoch, followed by the used amounts of mandates: ERC-7201's `geoswap.account`. */
export const accountSlot: Hex = "0x863feabba2f4e71e97c54598384547439817eda7710e9823b37b132c9aca7000";

/** The account refuses a mandate with a longer list. */
export const maxMandateEntries = 16;

const mandateTypes = {
	Mandate: [
		{ name: "wallet", type: "address" },
		{ name: "agent", type: "address" },
		{ name: "epoch", type: "uint64" },
		{ name: "expiry", type: "uint64" },
		{ name: "period", type: "uint32" },
		{ name: "originVault", type: "address" },
		{ name: "attesterSet", type: "bytes32" },
		{ name: "inputs", type: "InputCap[]" },
		{ name: "outputs", type: "OutputToken[]" },
		{ name: "recipients", type: "bytes32[]" },
	],
	InputCap: [
		{ name: "token", type: "address" },
		{ name: "maxAmount", type: "uint128" },
	],
	OutputToken: [
		{ name: "chainId", type: "uint256" },
		{ name: "token", type: "bytes32" },
	],
} as const;

const revocationTypes = {
	RevokeMandates: [
		{ name: "wallet", type: "address" },
		{ name: "epoch", type: "uint64" },
	],
} as const;

/** Returns the mandate as the EIP-712 document that its owner signs. */
export function mandateTypedData({ chainId, escrow, mandate }: Omit<SignedMandate, "signature">) {
	return {
		domain: escrowDomain({ chainId, escrow }),
		types: mandateTypes,
		primaryType: "Mandate",
		message: mandate,
	} as const satisfies TypedDataDefinition<typeof mandateTypes, "Mandate">;
}

/** Returns the 32 bytes that the owner signs. They also identify the mandate. */
export function mandateDigest({ chainId, escrow, mandate }: Omit<SignedMandate, "signature">): Hex {
	return keccak256(concat(["0x1901", domainHash(chainId, escrow), mandateHash(mandate)]));
}

const typeHashes = (() => {
	const written = (name: keyof typeof mandateTypes) =>
		`${name}(${mandateTypes[name].map((field) => `${field.type} ${field.name}`).join(",")})`;
	const [input, output] = [written("InputCap"), written("OutputToken")];
	return {
		mandate: keccak256(toHex(`${written("Mandate")}${input}${output}`)),
		input: keccak256(toHex(input)),
		output: keccak256(toHex(output)),
	};
})();

/** Returns the mandate's EIP-712 struct hash. Libraries that check each value first take ten times as long. */
function mandateHash({ inputs, outputs, recipients, ...fields }: Mandate): Hex {
	const list = (words: readonly Hex[]) => keccak256(concat(words));
	return list([
		typeHashes.mandate,
		toWord(fields.wallet),
		toWord(fields.agent),
		uint(fields.epoch),
		uint(fields.expiry),
		uint(BigInt(fields.period)),
		toWord(fields.originVault),
		fields.attesterSet,
		list(inputs.map(({ token, maxAmount }) => list([typeHashes.input, toWord(token), uint(maxAmount)]))),
		list(outputs.map(({ chainId, token }) => list([typeHashes.output, uint(chainId), token]))),
		list(recipients),
	]);
}

function uint(value: bigint): Hex {
	return numberToHex(value, { size: 32 });
}

/** Returns the slot in which a wallet's account counts what was used of a mandate's cap on a token. */
export function mandateUseSlot(mandate: Mandate, token: Address): Hex {
	const ofMandate = keccak256(concat([mandateHash(mandate), uint(BigInt(accountSlot) + 1n)]));
	return keccak256(concat([toWord(token), ofMandate]));
}

/** Returns the EIP-712 document with which an owner ends all mandates that name this epoch or an earlier one. */
export function revocationTypedData({
	chainId,
	escrow,
	...message
}: {
	chainId: number;
	escrow: Address;
	wallet: Address;
	epoch: bigint;
}) {
	return {
		domain: escrowDomain({ chainId, escrow }),
		types: revocationTypes,
		primaryType: "RevokeMandates",
		message,
	} as const satisfies TypedDataDefinition<typeof revocationTypes, "RevokeMandates">;
}

const signedMandateParameters = [
	{
		type: "tuple",
		components: mandateTypes.Mandate.map(({ name, type }) => {
			if (type !== "InputCap[]" && type !== "OutputToken[]") return { name, type };
			const components = type === "InputCap[]" ? mandateTypes.InputCap : mandateTypes.OutputToken;
			return { name, type: "tuple[]", components };
		}),
	},
	{ type: "bytes" },
];

/** Returns the bytes that follow an agent's signature in the proof of an order. */
export function encodeMandate({ mandate, signature }: Pick<SignedMandate, "mandate" | "signature">): Hex {
	return encodeAbiParameters(signedMandateParameters, [mandate, signature]);
}

/** Returns the mandate in the bytes that follow an agent's signature. Throws if they hold none. */
export function decodeMandate(data: Hex): Pick<SignedMandate, "mandate" | "signature"> {
	const [mandate, signature] = decodeAbiParameters(signedMandateParameters, data) as [Mandate, Hex];
	return { mandate, signature };
}

/** A rule of a mandate that an order breaks. */
export type MandateProblem =
	| "wallet"
	| "escrow"
	| "form"
	| "expiry"
	| "desk"
	| "output"
	| "recipient"
	| "input"
	| "amount";

/**
 * Returns the first rule of the mandate that the order breaks, by the order's own terms. Only the chain knows whether the
 * mandate was revoked, and how much of its cap is used.
 */
export function mandateProblem(
	{ chainId, escrow, mandate }: Omit<SignedMandate, "signature">,
	order: Order,
): MandateProblem | undefined {
	const { wallet, period, inputs, outputs, recipients } = mandate;
	if (toWord(wallet) !== order.wallet) return "wallet";
	if (BigInt(chainId) !== order.originChainId || toWord(escrow) !== order.escrow) return "escrow";
	if (period === 0 || [inputs, outputs, recipients].some(({ length }) => length > maxMandateEntries)) {
		return "form";
	}
	// The mandate must be valid in the last block that may open the order.
	if (mandate.expiry <= unpackDeadlines(order.deadlines).openDeadline) return "expiry";
	if (toWord(mandate.originVault) !== order.originVault || mandate.attesterSet !== order.attesterSet) {
		return "desk";
	}
	const isSameChain = order.destinationChainId === order.originChainId;
	if (isSameChain && order.destinationVault !== order.originVault) return "desk";
	const isOutput = (one: Mandate["outputs"][number]) =>
		one.chainId === order.destinationChainId && one.token === order.outputToken;
	if (outputs.length > 0 && !outputs.some(isOutput)) return "output";
	// On Solana there is no key for the wallet's address.
	const isOwn = order.recipient === order.wallet && order.destinationChainId !== BigInt(solanaChainId);
	if (!isOwn && !recipients.includes(order.recipient)) return "recipient";
	const cap = inputs.find(({ token }) => toWord(token) === order.inputToken);
	if (!cap) return "input";
	return order.inputAmount > cap.maxAmount ? "amount" : undefined;
}
