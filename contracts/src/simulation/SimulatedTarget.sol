// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Proxy} from "@openzeppelin/contracts/proxy/Proxy.sol";

/// @notice A call to make from the target's address, with at most this much gas.
struct Call {
    address to;
    uint256 gas;
    bytes data;
}

/// @title SimulatedTarget
/// @notice Stands in for the target of a simulated transaction, so that one `eth_call` returns what the transaction
/// would do. It is never deployed. The state overrides of the call set this code at the target's address, and the
/// target's own code at `MOVED_CODE`.
/// @dev The target's code runs by delegatecall. It runs with its own address, storage and sender, and with a sender
/// without code, which the EntryPoint requires. All other calls to the target's address are passed on to its own code.
contract SimulatedTarget is Proxy {
    /// @dev An address for which no key is known.
    address private constant MOVED_CODE = address(uint160(uint256(keccak256("geoswap.simulation.moved-code"))));

    /// @notice Runs the transaction's call, and makes the same reads before and after it.
    /// @param data The data of the transaction.
    /// @param reads View calls.
    /// @return succeeds False if the transaction would revert.
    /// @return returned The transaction's return or revert data.
    /// @return gasUsed Gas that the call used, before refunds and without the transaction's intrinsic gas.
    /// @return before The answers of `reads` before the call; empty for a read that reverts.
    /// @return afterwards The answers of `reads` after the call.
    function simulate(bytes calldata data, Call[] calldata reads)
        external
        payable
        returns (
            bool succeeds,
            bytes memory returned,
            uint256 gasUsed,
            bytes[] memory before,
            bytes[] memory afterwards
        )
    {
        // In a frame that reverts, so that what it touches is cold again afterwards, as it is for the transaction.
        (, bytes memory answers) = address(this).call(abi.encodeCall(this.callEachAndRevert, (reads)));
        before = abi.decode(answers, (bytes[]));
        uint256 gasBefore = gasleft();
        (succeeds, returned) = MOVED_CODE.delegatecall(data);
        gasUsed = gasBefore - gasleft();
        (, afterwards) = callEach(reads);
    }

    /// @notice Makes calls as the target, each after the ones before it.
    /// @return succeed For each call, whether it did not revert.
    /// @return returned For each call, its return or revert data.
    function callEach(Call[] calldata calls) public returns (bool[] memory succeed, bytes[] memory returned) {
        succeed = new bool[](calls.length);
        returned = new bytes[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            (succeed[i], returned[i]) = calls[i].to.call{gas: calls[i].gas}(calls[i].data);
        }
    }

    /// @notice Makes calls and undoes them, with the answers in the revert data.
    function callEachAndRevert(Call[] calldata calls) external {
        (, bytes[] memory returned) = callEach(calls);
        bytes memory answers = abi.encode(returned);
        assembly ("memory-safe") {
            revert(add(answers, 32), mload(answers))
        }
    }

    function _implementation() internal pure override returns (address) {
        return MOVED_CODE;
    }
}
