import { parseAbi } from "viem";

/** The part of OpenZeppelin's AccessManager that is used here. Its artifact is JSON, which has no types. */
export const accessManagerAbi = parseAbi([
	"constructor(address initialAdmin)",
	"function multicall(bytes[] data) returns (bytes[] results)",
	"function hasRole(uint64 roleId, address account) view returns (bool isMember, uint32 executionDelay)",
	"function getTargetFunctionRole(address target, bytes4 selector) view returns (uint64)",
	"function setTargetFunctionRole(address target, bytes4[] selectors, uint64 roleId)",
	"function labelRole(uint64 roleId, string label)",
	"function grantRole(uint64 roleId, address account, uint32 executionDelay)",
	"function renounceRole(uint64 roleId, address callerConfirmation)",
]);
