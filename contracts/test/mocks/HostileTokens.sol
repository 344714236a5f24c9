// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Token} from "./Token.sol";

interface ITransferHook {
    function onTransfer(address from, address to, uint256 amount) external;
}

/// @dev Keeps a part of every transfer, while its fee is on.
contract FeeToken is Token {
    uint256 public feeBps;

    function setFee(uint256 bps) external {
        feeBps = bps;
    }

    function _move(address from, address to, uint256 amount) internal virtual override {
        _move(from, to, amount, amount * feeBps / 10_000);
    }
}

/// @dev Returns nothing, and refuses to change an allowance that is not zero, as USDT does.
contract NoReturnToken is Token {
    error AllowanceStands();

    function approve(address spender, uint256 amount) public override returns (bool) {
        if (amount != 0 && allowance[msg.sender][spender] != 0) revert AllowanceStands();
        super.approve(spender, amount);
        assembly ("memory-safe") {
            return(0, 0)
        }
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        super.transfer(to, amount);
        assembly ("memory-safe") {
            return(0, 0)
        }
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        super.transferFrom(from, to, amount);
        assembly ("memory-safe") {
            return(0, 0)
        }
    }
}

/// @dev Moves nothing from or to a blocked account. It reports that by reverting, or by returning false.
contract BlockingToken is Token {
    error Blocked();

    mapping(address => bool) public blocked;
    bool public quiet;

    function setBlocked(address account, bool value) external {
        blocked[account] = value;
    }

    function setQuiet(bool value) external {
        quiet = value;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        if (quiet && (blocked[msg.sender] || blocked[to])) return false;
        return super.transfer(to, amount);
    }

    function _move(address from, address to, uint256 amount) internal override {
        if (blocked[from] || blocked[to]) revert Blocked();
        super._move(from, to, amount);
    }
}

/// @dev Calls a hook after every transfer, as ERC-777 calls the recipient. Can take a fee as well, so that what a
/// re-entrant call brings may then hide what a transfer did not.
contract HookToken is FeeToken {
    ITransferHook public hook;

    function setHook(ITransferHook value) external {
        hook = value;
    }

    function _move(address from, address to, uint256 amount) internal override {
        super._move(from, to, amount);
        if (address(hook) != address(0)) hook.onTransfer(from, to, amount);
    }
}

/// @dev Balances change without a transfer.
contract RebasingToken is Token {
    function rebase(address account, uint256 balance) external {
        balanceOf[account] = balance;
    }
}
