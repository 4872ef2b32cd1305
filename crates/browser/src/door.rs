//! The functions that the module exports, and the memory that they share with the page.

use std::cell::RefCell;

use airtcp_lab::Play;

use crate::requests;

/// Data kept between calls; an instance has one thread.
#[derive(Default)]
struct Memory {
    input: Vec<u8>,
    output: Vec<u8>,
    play: Option<Play>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// Sets aside memory for a request of that many bytes, and returns its address.
#[expect(unsafe_code, reason = "a name that the page can call")]
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    MEMORY.with_borrow_mut(|memory| {
        memory.input = vec![0; length];
        memory.input.as_mut_ptr()
    })
}

/// Answers the request in the memory that was set aside, and returns the answer's length in bytes.
#[expect(unsafe_code, reason = "a name that the page can call")]
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> usize {
    // The page reads the message of a panic after the trap that ends it.
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string().into_bytes();
        MEMORY.with(|memory| {
            if let Ok(mut memory) = memory.try_borrow_mut() {
                memory.output = text;
            }
        });
    }));
    let (input, mut play) = MEMORY.with_borrow_mut(|memory| {
        memory.output.clear();
        (std::mem::take(&mut memory.input), memory.play.take())
    });
    let output = requests::answer(&input, &mut play);
    MEMORY.with_borrow_mut(|memory| {
        memory.play = play;
        memory.output = output;
        memory.output.len()
    })
}

/// The address of the answer, or of a panic's message.
#[expect(unsafe_code, reason = "a name that the page can call")]
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    MEMORY.with_borrow(|memory| memory.output.as_ptr())
}

/// The length in bytes of the answer, or of a panic's message.
#[expect(unsafe_code, reason = "a name that the page can call")]
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    MEMORY.with_borrow(|memory| memory.output.len())
}
