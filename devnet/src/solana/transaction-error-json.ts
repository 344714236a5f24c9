import type { FailedTransactionMetadata } from "litesvm";

/** A transaction's error in a cluster's JSON form, which clients decode. */
export type TransactionErrorJson = string | Record<string, unknown>;

type SvmError = ReturnType<FailedTransactionMetadata["err"]>;

export function transactionErrorJson(error: SvmError): TransactionErrorJson {
	if (typeof error === "number") return transactionErrors[error] ?? "SanitizeFailure";
	if ("err" in error) return { InstructionError: [error.index, instructionErrorJson(error.err())] };
	const name = error.constructor.name.replace("TransactionError", "");
	if ("accountIndex" in error) return { [name]: { account_index: error.accountIndex } };
	return { [name]: error.index };
}

function instructionErrorJson(error: number | object): TransactionErrorJson {
	if (typeof error === "number") return instructionErrors[error] ?? "GenericError";
	if ("code" in error) return { Custom: error.code };
	return "BorshIoError";
}

/** Returns a preflight's description of an error, which follows "Transaction simulation failed: ". */
export function describeTransactionError(error: TransactionErrorJson): string {
	if (typeof error === "string") return sentences[error] ?? `Transaction failed: ${error}`;
	if ("InstructionError" in error) {
		const [index, cause] = error.InstructionError as [number, TransactionErrorJson];
		if (typeof cause === "string") return `Error processing Instruction ${index}: ${cause}`;
		const code = Number(cause.Custom).toString(16);
		return `Error processing Instruction ${index}: custom program error: 0x${code}`;
	}
	if ("InsufficientFundsForRent" in error) {
		const { account_index: index } = error.InsufficientFundsForRent as { account_index: number };
		return `Transaction results in an account (${index}) with insufficient funds for rent`;
	}
	return `Transaction failed: ${JSON.stringify(error)}`;
}

const sentences: Record<string, string> = {
	AccountNotFound: "Attempt to debit an account but found no record of a prior credit.",
	InsufficientFundsForFee: "Insufficient funds for fee",
	InvalidAccountForFee: "This account may not be used to pay transaction fees",
	AlreadyProcessed: "This transaction has already been processed",
	BlockhashNotFound: "Blockhash not found",
	ProgramAccountNotFound: "Attempt to load a program that does not exist",
	SignatureFailure: "Transaction did not pass signature verification",
	SanitizeFailure: "Transaction failed to sanitize accounts offsets correctly",
};

/** Names in the order of litesvm's enum. */
const transactionErrors = [
	"AccountInUse",
	"AccountLoadedTwice",
	"AccountNotFound",
	"ProgramAccountNotFound",
	"InsufficientFundsForFee",
	"InvalidAccountForFee",
	"AlreadyProcessed",
	"BlockhashNotFound",
	"CallChainTooDeep",
	"MissingSignatureForFee",
	"InvalidAccountIndex",
	"SignatureFailure",
	"InvalidProgramForExecution",
	"SanitizeFailure",
	"ClusterMaintenance",
	"AccountBorrowOutstanding",
	"WouldExceedMaxBlockCostLimit",
	"UnsupportedVersion",
	"InvalidWritableAccount",
	"WouldExceedMaxAccountCostLimit",
	"WouldExceedAccountDataBlockLimit",
	"TooManyAccountLocks",
	"AddressLookupTableNotFound",
	"InvalidAddressLookupTableOwner",
	"InvalidAddressLookupTableData",
	"InvalidAddressLookupTableIndex",
	"InvalidRentPayingAccount",
	"WouldExceedMaxVoteCostLimit",
	"WouldExceedAccountDataTotalLimit",
	"MaxLoadedAccountsDataSizeExceeded",
	"ResanitizationNeeded",
	"InvalidLoadedAccountsDataSizeLimit",
	"UnbalancedTransaction",
	"ProgramCacheHitMaxLimit",
	"CommitCancelled",
];

/** Names in the order of litesvm's enum. */
const instructionErrors = [
	"GenericError",
	"InvalidArgument",
	"InvalidInstructionData",
	"InvalidAccountData",
	"AccountDataTooSmall",
	"InsufficientFunds",
	"IncorrectProgramId",
	"MissingRequiredSignature",
	"AccountAlreadyInitialized",
	"UninitializedAccount",
	"UnbalancedInstruction",
	"ModifiedProgramId",
	"ExternalAccountLamportSpend",
	"ExternalAccountDataModified",
	"ReadonlyLamportChange",
	"ReadonlyDataModified",
	"DuplicateAccountIndex",
	"ExecutableModified",
	"RentEpochModified",
	"NotEnoughAccountKeys",
	"AccountDataSizeChanged",
	"AccountNotExecutable",
	"AccountBorrowFailed",
	"AccountBorrowOutstanding",
	"DuplicateAccountOutOfSync",
	"InvalidError",
	"ExecutableDataModified",
	"ExecutableLamportChange",
	"ExecutableAccountNotRentExempt",
	"UnsupportedProgramId",
	"CallDepth",
	"MissingAccount",
	"ReentrancyNotAllowed",
	"MaxSeedLengthExceeded",
	"InvalidSeeds",
	"InvalidRealloc",
	"ComputationalBudgetExceeded",
	"PrivilegeEscalation",
	"ProgramEnvironmentSetupFailure",
	"ProgramFailedToComplete",
	"ProgramFailedToCompile",
	"Immutable",
	"IncorrectAuthority",
	"AccountNotRentExempt",
	"InvalidAccountOwner",
	"ArithmeticOverflow",
	"UnsupportedSysvar",
	"IllegalOwner",
	"MaxAccountsDataAllocationsExceeded",
	"MaxAccountsExceeded",
	"MaxInstructionTraceLengthExceeded",
	"BuiltinProgramsMustConsumeComputeUnits",
	"BorshIoError",
];
