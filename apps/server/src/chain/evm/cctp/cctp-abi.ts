import { parseAbi } from "viem";

/** The calls and events that are used of Circle's MessageTransmitterV2 and TokenMessengerV2. */
export const cctpAbi = parseAbi([
	"function receiveMessage(bytes message, bytes attestation) returns (bool success)",
	"function usedNonces(bytes32 nonce) view returns (uint256)",
	"event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)",
	"event MintAndWithdraw(address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected)",
]);
