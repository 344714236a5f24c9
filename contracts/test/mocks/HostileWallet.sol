// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Terms} from "../../src/Order.sol";
import {IGeoPayer} from "../../src/interfaces/IGeoPayer.sol";
import {Token} from "./Token.sol";

/// @dev A wallet with a third party's code. It pays for every order, without any proof, or does what its settings name
/// instead. A wallet can delegate to it (EIP-7702). Its settings are in the wallet's own storage.
contract HostileWallet is IGeoPayer {
    enum Mode {
        Pay,
        PayNothing,
        PayTooLittle,
        PayTooMuch,
        BurnGas,
        BurnGasAndPay,
        InvalidOpcode,
        Revert,
        RevertWithNothing,
        RevertWithAByte,
        RevertWithAFlood,
        ReturnGarbage,
        ReturnAFlood,
        CallAndPay,
        PayAndCall
    }

    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    error Refused();

    Mode public mode;
    Call[] private _calls;
    uint256 public attempts;
    uint256 public successes;
    /// What each call that failed was answered.
    bytes[] public errors;
    /// The gas with which `pay` began last.
    uint256 public gasAtPay;

    receive() external payable {}

    function setMode(Mode value) external {
        mode = value;
    }

    function arm(Mode mode_, Call[] calldata calls) external {
        mode = mode_;
        delete _calls;
        for (uint256 i = 0; i < calls.length; ++i) {
            _calls.push(calls[i]);
        }
    }

    function pay(bytes32, Terms calldata terms, bytes calldata) external {
        uint256 gasNow = gasleft();
        if (mode == Mode.Pay) gasAtPay = gasNow;
        _misbehave();
        if (mode == Mode.CallAndPay) _callAll();
        uint256 amount = terms.inputAmount;
        if (mode == Mode.PayTooLittle) amount -= 1;
        if (mode == Mode.PayTooMuch) amount += 1;
        if (mode != Mode.PayNothing) _transfer(address(uint160(uint256(terms.inputToken))), amount);
        if (mode == Mode.PayAndCall) _callAll();
        // Leaves the caller the 64th that this call could not have, and nothing more.
        if (mode == Mode.BurnGasAndPay) {
            while (gasleft() > 200) {}
        }
        if (mode == Mode.ReturnAFlood) {
            assembly ("memory-safe") {
                return(0, 100000)
            }
        }
    }

    function _misbehave() private view {
        if (mode == Mode.BurnGas) {
            while (true) {}
        }
        if (mode == Mode.Revert) revert Refused();
        assembly ("memory-safe") {
            switch sload(mode.slot)
            // InvalidOpcode
            case 6 { invalid() }
            // RevertWithNothing
            case 8 { revert(0, 0) }
            // RevertWithAByte
            case 9 { revert(0, 1) }
            // RevertWithAFlood
            case 10 { revert(0, 100000) }
            // ReturnGarbage
            case 11 {
                mstore(0, not(0))
                return(0, 29)
            }
        }
    }

    function _callAll() private {
        for (uint256 i = 0; i < _calls.length; ++i) {
            ++attempts;
            (bool ok, bytes memory answer) = _calls[i].target.call{value: _calls[i].value}(_calls[i].data);
            if (ok) ++successes;
            else errors.push(answer);
        }
    }

    function _transfer(address token, uint256 amount) private {
        (address to, uint256 value, bytes memory data) = token == address(0)
            ? (msg.sender, amount, bytes(""))
            : (token, 0, abi.encodeCall(Token.transfer, (msg.sender, amount)));
        // Tokens that return false or nothing are left to the escrow to notice.
        (bool ok,) = to.call{value: value}(data);
        if (!ok) revert Refused();
    }
}
