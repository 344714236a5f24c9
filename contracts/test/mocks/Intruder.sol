// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ITransferHook} from "./HostileTokens.sol";

/// @dev A wallet with code that calls back whenever it is given control, and can refuse or burn what it is sent.
contract Intruder is ITransferHook {
    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    enum OnReceive {
        Accept,
        Refuse,
        BurnGas,
        FloodReturnData
    }

    /// Logs of calls that reverted are recorded too. These show which ones to pass over.
    event Attempt();
    event Attempted(bool ok);

    error Refused();

    OnReceive public onReceive;
    Call[] private _calls;
    uint256 public attempts;
    uint256 public successes;
    /// What the last call that failed was answered.
    bytes public lastError;

    function setOnReceive(OnReceive value) external {
        onReceive = value;
    }

    function arm(Call[] calldata calls) external {
        delete _calls;
        for (uint256 i = 0; i < calls.length; ++i) {
            _calls.push(calls[i]);
        }
    }

    function onTransfer(address, address, uint256) external {
        strike();
    }

    /// @dev As a route that is handed inventory.
    function forward(address, uint256, bytes calldata) external {
        strike();
    }

    /// @dev Each call is made once. One that gives control back here finds nothing left to do.
    function strike() public {
        uint256 count = _calls.length;
        if (count == 0) return;
        Call[] memory calls = _calls;
        delete _calls;
        for (uint256 i = 0; i < count; ++i) {
            ++attempts;
            emit Attempt();
            (bool ok, bytes memory answer) = calls[i].target.call{value: calls[i].value}(calls[i].data);
            emit Attempted(ok);
            if (ok) ++successes;
            else lastError = answer;
        }
    }

    receive() external payable {
        if (onReceive == OnReceive.Refuse) revert Refused();
        if (onReceive == OnReceive.BurnGas) {
            while (true) {}
        }
        if (onReceive == OnReceive.FloodReturnData) {
            assembly ("memory-safe") {
                revert(0, 1000000)
            }
        }
        if (_calls.length != 0) strike();
    }
}
