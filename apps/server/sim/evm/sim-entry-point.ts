import {
	type Address,
	type ContractFunctionArgs,
	concat,
	encodeAbiParameters,
	encodeFunctionResult,
	type Hex,
	hashMessage,
	keccak256,
	stringToHex,
	zeroAddress,
	zeroHash,
} from "viem";
import { entryPoint09Abi } from "viem/account-abstraction";
import {
	decodeCall,
	type EvmContext,
	type EvmContract,
	emit,
	lower,
	Revert,
	revertWith,
} from "./evm-call.ts";
import { recoverPackedSigner } from "./recover-signer.ts";
import { stateKey } from "./state-overlay.ts";

type UserOp = ContractFunctionArgs<typeof entryPoint09Abi, "nonpayable", "handleOps">[0][number];
type ValidOp = { op: UserOp; sender: Address; hash: Hex };

const hash = (text: string) => keccak256(stringToHex(text));
const domainTypehash = hash(
	"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)",
);
const opTypehash = hash(
	"PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)",
);
const delegationPrefix = "0xef0100";
const uint64 = (1n << 64n) - 1n;
const gas = { perBundle: 10_000n, perOp: 55_000n, view: 3_000n };
/** Length beyond which the EntryPoint does not repeat the revert data of a failed call. */
const mostReasonDigits = 2 + 2 * 2_048;

/** EntryPoint v0.9 for ops of delegated wallets that pay nothing: no paymasters, no factories, no aggregators. */
export function createSimEntryPoint({
	chainId,
	address,
	delegates,
}: {
	chainId: number;
	address: Address;
	/** The delegates of wallets whose ops it understands. */
	delegates: readonly Address[];
}): EvmContract {
	const self = lower(address);
	const known = delegates.map(lower);
	const domain = keccak256(
		encodeAbiParameters(
			[
				{ type: "bytes32" },
				{ type: "bytes32" },
				{ type: "bytes32" },
				{ type: "uint256" },
				{ type: "address" },
			],
			[domainTypehash, hash("ERC4337"), hash("1"), BigInt(chainId), self],
		),
	);
	const failed = (opIndex: number, reason: string) =>
		revertWith(entryPoint09Abi, "FailedOp", [BigInt(opIndex), reason]);

	function hashOp({ state }: EvmContext, op: UserOp): Hex {
		let initCode = op.initCode;
		// This marker makes the delegate part of the hash.
		if (initCode.startsWith("0x7702")) {
			const code = state.text(stateKey.code(lower(op.sender)));
			if (code === "" || code === "0x") {
				throw revertWith(entryPoint09Abi, "Eip7702SenderWithoutCode", [op.sender]);
			}
			if (!code.startsWith(delegationPrefix)) {
				throw revertWith(entryPoint09Abi, "Eip7702SenderNotDelegate", [op.sender]);
			}
			initCode = `0x${code.slice(delegationPrefix.length)}${initCode.slice(42)}`;
		}
		const fields = encodeAbiParameters(
			[
				{ type: "bytes32" },
				{ type: "address" },
				{ type: "uint256" },
				{ type: "bytes32" },
				{ type: "bytes32" },
				{ type: "bytes32" },
				{ type: "uint256" },
				{ type: "bytes32" },
				{ type: "bytes32" },
			],
			[
				opTypehash,
				op.sender,
				op.nonce,
				keccak256(initCode),
				keccak256(op.callData),
				op.accountGasLimits,
				op.preVerificationGas,
				op.gasFees,
				keccak256(op.paymasterAndData),
			],
		);
		return keccak256(concat(["0x1901", domain, keccak256(fields)]));
	}

	function validate(context: EvmContext, op: UserOp, opIndex: number): ValidOp {
		const { state } = context;
		context.gas.used += gas.perOp;
		const sender = lower(op.sender);
		const opHash = hashOp(context, op);
		if (op.preVerificationGas !== 0n || BigInt(op.gasFees) !== 0n || op.paymasterAndData !== "0x") {
			throw new Error("the simulated EntryPoint takes only ops that pay nothing");
		}
		const code = state.text(stateKey.code(sender));
		if (code === "") throw failed(opIndex, "AA20 account not deployed");
		if (!known.includes(lower(`0x${code.slice(delegationPrefix.length)}`))) {
			throw revertWith(entryPoint09Abi, "FailedOpWithRevert", [BigInt(opIndex), "AA23 reverted", "0x"]);
		}
		const isSigned = recoverPackedSigner(hashMessage({ raw: opHash }), op.signature) === sender;
		const nonceKey = stateKey.opNonce(sender, op.nonce >> 64n);
		const sequence = state.number(nonceKey);
		if (sequence !== (op.nonce & uint64)) throw failed(opIndex, "AA25 invalid account nonce");
		state.set(nonceKey, sequence + 1n);
		if (!isSigned) throw failed(opIndex, "AA24 signature error");
		return { op, sender, hash: opHash };
	}

	/** Executes an op. If its call fails, the bundle still succeeds, and the nonce is spent either way. */
	function execute(context: EvmContext, { op, sender, hash: opHash }: ValidOp): void {
		const callGasLimit = BigInt(op.accountGasLimits) & ((1n << 128n) - 1n);
		const before = context.gas.used;
		const mark = context.state.mark();
		const logs = context.logs.length;
		let isSuccess = true;
		if (op.callData !== "0x") {
			try {
				context.call({ from: self, to: sender, value: 0n, data: op.callData });
				if (context.gas.used - before > callGasLimit) {
					context.state.undoTo(mark);
					context.logs.length = logs;
					throw new Revert();
				}
			} catch (error) {
				if (!(error instanceof Revert)) throw error;
				isSuccess = false;
				const reason = error.data.slice(0, mostReasonDigits) as Hex;
				emit(context, self, {
					abi: entryPoint09Abi,
					name: "UserOperationRevertReason",
					args: [opHash, sender, op.nonce, reason],
				});
			}
		}
		const used = context.gas.used - before + gas.perOp;
		emit(context, self, {
			abi: entryPoint09Abi,
			name: "UserOperationEvent",
			args: [opHash, sender, zeroAddress, op.nonce, isSuccess, 0n, used],
		});
	}

	return (context, { from, data }) => {
		if (data === "0x") return "0x";
		const call = decodeCall(entryPoint09Abi, data);
		const { state } = context;
		switch (call.functionName) {
			case "handleOps": {
				const [ops, beneficiary] = call.args;
				// The caller must be an account without code, in a transaction of its own.
				if (from !== context.origin || state.text(stateKey.code(from)) !== "") {
					throw revertWith(entryPoint09Abi, "Reentrancy");
				}
				context.gas.used += gas.perBundle;
				const valid = ops.map((op, i) => validate(context, op, i));
				emit(context, self, { abi: entryPoint09Abi, name: "BeforeExecution", args: [] });
				for (const op of valid) execute(context, op);
				if (beneficiary === zeroAddress) {
					throw revertWith(entryPoint09Abi, "InvalidBeneficiary", [beneficiary]);
				}
				return "0x";
			}
			case "getNonce": {
				const [sender, key] = call.args;
				context.gas.used += gas.view;
				const result = (key << 64n) | state.number(stateKey.opNonce(lower(sender), key));
				return encodeFunctionResult({ abi: entryPoint09Abi, functionName: "getNonce", result });
			}
			case "getUserOpHash":
				return encodeFunctionResult({
					abi: entryPoint09Abi,
					functionName: "getUserOpHash",
					result: hashOp(context, call.args[0]),
				});
			case "balanceOf":
				return zeroHash;
			default:
				throw new Revert();
		}
	};
}
