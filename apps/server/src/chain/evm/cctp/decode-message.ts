import { type Amount, toWord } from "@geoswap/protocol";
import { type Address, type Hex, hexToBigInt, hexToNumber, isHex, size, slice, zeroHash } from "viem";

/** From this threshold on, Circle's contracts treat a message as final. A burn with a lower minimum is a fast one. */
export const finalizedThreshold = 2_000;

/** The minimum of a fast burn, which Circle attests before its block is final. */
export const fastThreshold = 1_000;

/** The burn that a message must describe: the terms of a move, and the route that it takes. */
export type CctpBurn = {
	/** The two chains, as Circle numbers them. */
	sourceDomain: number;
	destinationDomain: number;
	/** TokenMessengerV2 on the chain of the burn, and on the chain of the mint. */
	sourceMessenger: Address;
	destinationMessenger: Address;
	/** The CctpRoute that burned. */
	route: Address;
	burnToken: Address;
	/** The vault on the chain of the mint. */
	recipient: Address;
	amount: Amount;
	maxFee: Amount;
	minFinalityThreshold: number;
};

/** A message of version 2 with the body of a burn, as its bytes have it. Addresses are words. */
export type CctpMessage = {
	sourceDomain: number;
	destinationDomain: number;
	/** Chosen by Circle. The zero word until the message is attested. */
	nonce: Hex;
	sender: Hex;
	recipient: Hex;
	/** The only caller that may have it minted; the zero word if anyone may. */
	destinationCaller: Hex;
	minFinalityThreshold: number;
	finalityThresholdExecuted: number;
	burnToken: Hex;
	mintRecipient: Hex;
	amount: Amount;
	messageSender: Hex;
	maxFee: Amount;
	feeExecuted: Amount;
	/** The block of the destination from which on the message cannot be minted; zero if it does not expire. */
	expirationBlock: bigint;
};

/** Circle's second contracts number their messages, and the bodies of these, as version 1. */
const version = 1;
const headerBytes = 148;
const bodyBytes = 228;

/** Decodes a message without hook data. Throws if the bytes are anything else. */
export function decodeMessage(bytes: Hex): CctpMessage {
	if (!isHex(bytes) || size(bytes) !== headerBytes + bodyBytes || bytes.length % 2 !== 0) {
		throw new RangeError(`it does not have the ${headerBytes + bodyBytes} bytes of a burn without a hook`);
	}
	const number = (at: number) => hexToNumber(slice(bytes, at, at + 4));
	const word = (at: number) => slice(bytes, at, at + 32).toLowerCase() as Hex;
	const inBody = (at: number) => word(headerBytes + at);
	if (number(0) !== version) throw new RangeError(`it has version ${number(0)}, not ${version}`);
	if (number(headerBytes) !== version) {
		throw new RangeError(`its body has version ${number(headerBytes)}, not ${version}`);
	}
	return {
		sourceDomain: number(4),
		destinationDomain: number(8),
		nonce: word(12),
		sender: word(44),
		recipient: word(76),
		destinationCaller: word(108),
		minFinalityThreshold: number(140),
		finalityThresholdExecuted: number(144),
		burnToken: inBody(4),
		mintRecipient: inBody(36),
		amount: hexToBigInt(inBody(68)),
		messageSender: inBody(100),
		maxFee: hexToBigInt(inBody(132)),
		feeExecuted: hexToBigInt(inBody(164)),
		expirationBlock: hexToBigInt(inBody(196)),
	};
}

/**
 * Compares an attested message with the burn that it must describe. Every byte is checked except those that Circle
 * chooses, which are the nonce, the finality at which it signed, the block of expiry, and the fee up to the maximum.
 */
export function checkMessage(bytes: Hex, burn: CctpBurn): { message: CctpMessage } | { problem: string } {
	let message: CctpMessage;
	try {
		message = decodeMessage(bytes);
	} catch (error) {
		return { problem: (error as Error).message };
	}
	const expected: Partial<CctpMessage> = {
		sourceDomain: burn.sourceDomain,
		destinationDomain: burn.destinationDomain,
		sender: toWord(burn.sourceMessenger),
		recipient: toWord(burn.destinationMessenger),
		destinationCaller: zeroHash,
		minFinalityThreshold: burn.minFinalityThreshold,
		burnToken: toWord(burn.burnToken),
		mintRecipient: toWord(burn.recipient),
		amount: burn.amount,
		messageSender: toWord(burn.route),
		maxFee: burn.maxFee,
	};
	const wrong = (Object.keys(expected) as (keyof CctpMessage)[]).find(
		(name) => message[name] !== expected[name],
	);
	if (wrong) return { problem: `its ${wrong} is ${message[wrong]}, not ${expected[wrong]}` };
	if (message.nonce === zeroHash) return { problem: "it has no nonce" };
	if (message.feeExecuted > burn.maxFee || message.feeExecuted >= burn.amount) {
		return { problem: `its fee is ${message.feeExecuted}, and the maximum is ${burn.maxFee}` };
	}
	if (message.finalityThresholdExecuted < Math.min(burn.minFinalityThreshold, finalizedThreshold)) {
		return {
			problem: `it was signed at finality ${message.finalityThresholdExecuted}, below ${burn.minFinalityThreshold}`,
		};
	}
	return { message };
}
