import { geoEscrowAbi, type Order, type Terms, toWord } from "@geoswap/protocol";
import {
	type Address,
	type ContractFunctionArgs,
	concat,
	encodeAbiParameters,
	encodeFunctionData,
	encodeFunctionResult,
	type Hex,
	keccak256,
	stringToHex,
	zeroAddress,
} from "viem";
import {
	decodeCall,
	type EvmContext,
	type EvmContract,
	emit,
	lower,
	Revert,
	revertWith,
} from "./evm-call.ts";
import { knownOrderId } from "./known-order-id.ts";
import { balanceAt, payFromContract } from "./pay-from-contract.ts";
import { recoverPackedSigner } from "./recover-signer.ts";
import { tokenAbi } from "./sim-token.ts";
import { stateKey } from "./state-overlay.ts";

type Attestation = ContractFunctionArgs<typeof geoEscrowAbi, "nonpayable", "releaseMany">[1];
type Decision = "Release" | "Refund";

const escrowState = { none: 0n, opened: 1n, released: 2n, refunded: 3n } as const;
/** The vault's states; the escrow asks the vault about orders of one chain. */
const vaultState = { none: 0n, filled: 1n, voided: 2n } as const;

const maxRefundDelay = 3n * 24n * 3_600n;
const maxInput = (1n << 128n) - 1n;
const uint64 = (1n << 64n) - 1n;
const gas = { open: 60_000n, decide: 15_000n, signature: 6_000n, credit: 25_000n, view: 3_000n };

/** Returns the three times of an order's word as the contracts read them, whatever else is in it. */
export function timesOf(deadlines: bigint): { open: bigint; fill: bigint; refund: bigint } {
	return {
		open: (deadlines >> 128n) & uint64,
		fill: (deadlines >> 64n) & uint64,
		refund: deadlines & uint64,
	};
}

export function toAddress(word: Hex): Address {
	if (!/^0x0{24}/.test(word)) throw revertWith(geoEscrowAbi, "NotAnAddress", [word]);
	return lower(`0x${word.slice(26)}`);
}

const hash = (text: string) => keccak256(stringToHex(text));
const domainTypehash = hash(
	"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)",
);
const typehashes: Record<Decision, Hex> = {
	Release: hash("Release(bytes32[] orderIds)"),
	Refund: hash("Refund(bytes32[] orderIds)"),
};

/** GeoEscrow, rule by rule in the order of its source: which of several errors comes first is part of it. */
export function createSimEscrow({ chainId, address }: { chainId: number; address: Address }): EvmContract {
	const self = lower(address);
	const chain = BigInt(chainId);
	const domain = keccak256(
		encodeAbiParameters(
			[
				{ type: "bytes32" },
				{ type: "bytes32" },
				{ type: "bytes32" },
				{ type: "uint256" },
				{ type: "address" },
			],
			[domainTypehash, hash("GeoEscrow"), hash("1"), chain, self],
		),
	);
	const stateOf = (context: EvmContext, orderId: Hex) =>
		context.state.number(stateKey.escrowOrder(self, orderId));
	const digest = (kind: Decision, orderIds: readonly Hex[]): Hex =>
		keccak256(
			concat(["0x1901", domain, keccak256(concat([typehashes[kind], keccak256(concat([...orderIds]))]))]),
		);

	function open(context: EvmContext, from: Address, value: bigint, terms: Terms): Hex {
		const { state, timestamp } = context;
		const times = timesOf(terms.deadlines);
		const isOrdered = terms.deadlines >> 192n === 0n && times.open < times.fill && times.fill < times.refund;
		if (!isOrdered || timestamp > times.open || times.refund > timestamp + maxRefundDelay) {
			throw revertWith(geoEscrowAbi, "InvalidDeadlines");
		}
		if (terms.inputAmount === 0n || terms.minOutput === 0n || terms.inputAmount > maxInput) {
			throw revertWith(geoEscrowAbi, "InvalidAmount");
		}
		toAddress(terms.originVault);
		const order: Order = { ...terms, originChainId: chain, escrow: toWord(self), wallet: toWord(from) };
		const orderId = knownOrderId(order);
		if (stateOf(context, orderId) !== escrowState.none) {
			throw revertWith(geoEscrowAbi, "AlreadyOpened", [orderId]);
		}
		context.gas.used += gas.open;
		state.set(stateKey.escrowOrder(self, orderId), escrowState.opened);
		emit(context, self, { abi: geoEscrowAbi, name: "Opened", args: [orderId, from, terms] });

		const token = toAddress(terms.inputToken);
		let received = value;
		if (token !== zeroAddress) {
			if (received !== 0n) throw revertWith(geoEscrowAbi, "WrongAmount", [0n, received]);
			const before = balanceAt(context, token, self);
			const args = [from, self, terms.inputAmount] as const;
			const data = encodeFunctionData({ abi: tokenAbi, functionName: "transferFrom", args });
			context.call({ from: self, to: token, value: 0n, data });
			received = balanceAt(context, token, self) - before;
		}
		if (received !== terms.inputAmount) {
			throw revertWith(geoEscrowAbi, "WrongAmount", [terms.inputAmount, received]);
		}
		return orderId;
	}

	function openOrder(context: EvmContext, order: Order): Hex {
		const orderId = knownOrderId(order);
		if (stateOf(context, orderId) !== escrowState.opened) {
			throw revertWith(geoEscrowAbi, "NotOpen", [orderId]);
		}
		return orderId;
	}

	/** Decides the order in any case: an amount that cannot be paid out is credited. */
	function decide(context: EvmContext, kind: Decision, orderId: Hex, order: Order): void {
		const { state } = context;
		const isRelease = kind === "Release";
		context.gas.used += gas.decide;
		const decided = isRelease ? escrowState.released : escrowState.refunded;
		state.set(stateKey.escrowOrder(self, orderId), decided);
		const to = toAddress(isRelease ? order.originVault : order.wallet);
		const token = toAddress(order.inputToken);
		const isPaid = tryPay(context, { token, to, amount: order.inputAmount });
		if (!isPaid) {
			const key = stateKey.credit(self, token, to);
			context.gas.used += gas.credit;
			state.set(key, state.number(key) + order.inputAmount);
			emit(context, self, {
				abi: geoEscrowAbi,
				name: "Credited",
				args: [orderId, to, token, order.inputAmount],
			});
		}
		emit(context, self, {
			abi: geoEscrowAbi,
			name: isRelease ? "Released" : "Refunded",
			args: [orderId, isPaid],
		});
	}

	function tryPay(context: EvmContext, payment: { token: Address; to: Address; amount: bigint }): boolean {
		try {
			payFromContract(context, { from: self, ...payment });
			return true;
		} catch (error) {
			if (error instanceof Revert) return false;
			throw error;
		}
	}

	function checkSignatures(context: EvmContext, message: Hex, attestation: Attestation): void {
		const { signatures, threshold } = attestation;
		const count = BigInt(signatures.length);
		if (count < threshold || threshold === 0n) {
			throw revertWith(geoEscrowAbi, "ThresholdNotMet", [count, threshold]);
		}
		const attesters = attestation.attesters.map(lower);
		let previous = 0n;
		let next = 0;
		for (const signature of signatures) {
			context.gas.used += gas.signature;
			const signer = recoverPackedSigner(message, signature);
			if (!signer) throw badSignature(signature);
			if (BigInt(signer) <= previous) throw revertWith(geoEscrowAbi, "InvalidAttester", [signer]);
			previous = BigInt(signer);
			while (next < attesters.length && attesters[next] !== signer) next++;
			if (next === attesters.length) throw revertWith(geoEscrowAbi, "InvalidAttester", [signer]);
		}
	}

	/** Returns false for a release on one chain: delivery and release are one call there, and no attestation counts. */
	const isAttestable = (order: Order, kind: Decision) =>
		kind === "Refund" || order.destinationChainId !== chain;

	function decideOne(
		context: EvmContext,
		{ kind, caller }: { kind: Decision; caller: Address },
		[order, attestation]: readonly [Order, Attestation],
	): void {
		const orderId = openOrder(context, order);
		const set = setHash(attestation);
		if (order.attesterSet !== set) {
			throw revertWith(geoEscrowAbi, "WrongAttesterSet", [order.attesterSet, set]);
		}
		if (!isAttestable(order, kind)) throw revertWith(geoEscrowAbi, "NotTheVault", [caller]);
		checkSignatures(context, digest(kind, [orderId]), attestation);
		decide(context, kind, orderId, order);
	}

	function decideMany(
		context: EvmContext,
		kind: Decision,
		[orders, attestation]: readonly [readonly Order[], Attestation],
	): void {
		const set = setHash(attestation);
		const orderIds = orders.map(knownOrderId);
		checkSignatures(context, digest(kind, orderIds), attestation);
		orders.forEach((order, i) => {
			const orderId = orderIds[i] as Hex;
			const isOpen = stateOf(context, orderId) === escrowState.opened;
			if (isOpen && order.attesterSet === set && isAttestable(order, kind)) {
				decide(context, kind, orderId, order);
			} else emit(context, self, { abi: geoEscrowAbi, name: "Skipped", args: [orderId] });
		});
	}

	/** Returns true if the order's own vault is on this chain and says that no fill can follow. */
	function isClosedHere(context: EvmContext, orderId: Hex, order: Order): boolean {
		if (order.destinationChainId !== chain) return false;
		const vault = toAddress(order.destinationVault);
		if (context.kindOf(vault) !== "vault") throw new Revert();
		const state = context.state.number(stateKey.vaultOrder(vault, orderId));
		const isExpired = context.timestamp >= timesOf(order.deadlines).fill;
		return state === vaultState.voided || (state === vaultState.none && isExpired);
	}

	function claim(context: EvmContext, token: Address, beneficiary: Address, to: Address): void {
		const key = stateKey.credit(self, token, beneficiary);
		const amount = context.state.number(key);
		if (amount === 0n) throw revertWith(geoEscrowAbi, "NothingToClaim");
		context.state.set(key, 0n);
		if (!tryPay(context, { token, to, amount })) throw revertWith(geoEscrowAbi, "ClaimFailed");
		emit(context, self, { abi: geoEscrowAbi, name: "Claimed", args: [beneficiary, token, to, amount] });
	}

	return (context, { from, value, data }) => {
		const call = decodeCall(geoEscrowAbi, data);
		if (value > 0n && call.functionName !== "open") throw new Revert();
		const view = (result: unknown) => {
			context.gas.used += gas.view;
			const answer = { abi: geoEscrowAbi, functionName: call.functionName, result };
			return encodeFunctionResult(answer as Parameters<typeof encodeFunctionResult>[0]);
		};
		switch (call.functionName) {
			case "open":
				return open(context, from, value, call.args[0]);
			case "release":
			case "refundEarly":
				decideOne(
					context,
					{ kind: call.functionName === "release" ? "Release" : "Refund", caller: from },
					call.args,
				);
				return "0x";
			case "releaseMany":
			case "refundMany":
				decideMany(context, call.functionName === "releaseMany" ? "Release" : "Refund", call.args);
				return "0x";
			case "releaseFilled": {
				const [order] = call.args;
				if (order.destinationChainId !== chain || order.destinationVault !== toWord(from)) {
					throw revertWith(geoEscrowAbi, "NotTheVault", [from]);
				}
				decide(context, "Release", openOrder(context, order), order);
				return "0x";
			}
			case "refund": {
				const [order] = call.args;
				const orderId = openOrder(context, order);
				const { refund } = timesOf(order.deadlines);
				if (context.timestamp < refund && !isClosedHere(context, orderId, order)) {
					throw revertWith(geoEscrowAbi, "TooEarly", [refund]);
				}
				decide(context, "Refund", orderId, order);
				return "0x";
			}
			case "claim":
				claim(context, lower(call.args[0]), lower(call.args[1]), lower(call.args[1]));
				return "0x";
			case "claimTo":
				claim(context, lower(call.args[0]), from, lower(call.args[1]));
				return "0x";
			case "orderIdOf":
				return view(knownOrderId(call.args[0]));
			case "orderState":
				return view(Number(stateOf(context, call.args[0])));
			case "credit":
				return view(context.state.number(stateKey.credit(self, lower(call.args[0]), lower(call.args[1]))));
			case "releaseDigest":
				return view(digest("Release", call.args[0]));
			case "refundDigest":
				return view(digest("Refund", call.args[0]));
			case "MAX_REFUND_DELAY":
				return view(maxRefundDelay);
			default:
				throw new Revert();
		}
	};
}

function setHash({ threshold, attesters }: Attestation): Hex {
	return keccak256(encodeAbiParameters([{ type: "uint256" }, { type: "address[]" }], [threshold, attesters]));
}

/** Returns the error of OpenZeppelin's ECDSA for an invalid signature. */
function badSignature(signature: Hex): Revert {
	const bytes = BigInt(signature.length / 2 - 1);
	if (bytes !== 65n) return revertWith(geoEscrowAbi, "ECDSAInvalidSignatureLength", [bytes]);
	const s: Hex = `0x${signature.slice(66, 130)}`;
	const isHigh = BigInt(s) > 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
	return isHigh
		? revertWith(geoEscrowAbi, "ECDSAInvalidSignatureS", [s])
		: revertWith(geoEscrowAbi, "ECDSAInvalidSignature");
}
