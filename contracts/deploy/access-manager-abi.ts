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
	"function getRoleGuardian(uint64 roleId) view returns (uint64)",
	"function setRoleGuardian(uint64 roleId, uint64 guardian)",
	"function canCall(address caller, address target, bytes4 selector) view returns (bool immediate, uint32 delay)",
	"function hashOperation(address caller, address target, bytes data) view returns (bytes32)",
	"function getSchedule(bytes32 id) view returns (uint48)",
	"function schedule(address target, bytes data, uint48 when) returns (bytes32 operationId, uint32 nonce)",
	"function cancel(address caller, address target, bytes data) returns (uint32 nonce)",
	"function execute(address target, bytes data) payable returns (uint32)",
	"function renounceRole(uint64 roleId, address callerConfirmation)",
]);
